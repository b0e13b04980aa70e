"""`torch.distributed.launch`: `torchrun` by its older name, which hands ``--local-rank=N`` to scripts unless told ``--use-env``.

Owns: that difference. May not know: tensors. Imports its neighbours only, as `run.py` does.
"""
import warnings

from .run import get_args_parser, run

__all__ = ["launch", "main", "parse_args"]


def parse_args(args):
    """The command line as a namespace; of this process, if it is None."""
    parser = get_args_parser()
    parser.add_argument("--use-env", "--use_env", action="store_true", help="tell the local rank by LOCAL_RANK alone")
    return parser.parse_args(args)


def launch(args):
    """`run`. ValueError for a command that is no Python script without ``--use-env``, since it would be handed an option."""
    if args.no_python and not args.use_env:
        raise ValueError("When using the '--no-python' flag, you must also set the '--use-env' flag.")
    run(args)


def main(args=None):
    """Runs what the command line says; warns that the name is an old one."""
    warnings.warn("The module torch.distributed.launch is deprecated\nand will be removed in future. Use torchrun.\nIt passes no "
                  "--local-rank: a script reads os.environ['LOCAL_RANK'].", FutureWarning, stacklevel=2)
    launch(parse_args(args))


if __name__ == "__main__":
    main()
