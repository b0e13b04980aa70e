"""What torchvision's compiled extensions define under `torch.ops`, made of the public interface.

`regions`: boxes and the pieces of feature maps that they cut out (``torchvision._C``). `images`: files of pictures (``torchvision.image``).
"""
