"""What tests of files share: an object through a file of one library, and whether two tensors of two libraries are alike."""
import io


def through(obj, save, load, **options):
    file = io.BytesIO()
    save(obj, file)
    file.seek(0)
    return load(file, **options)


def same(ours, theirs):
    assert type(theirs).__name__ == type(ours).__name__
    assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape) and ours.stride() == theirs.stride()
    assert ours.storage_offset() == theirs.storage_offset() and ours.requires_grad == theirs.requires_grad
    assert (ours.is_conj(), ours.is_neg()) == (theirs.is_conj(), theirs.is_neg())
    assert str(ours.tolist()) == str(theirs.tolist())
