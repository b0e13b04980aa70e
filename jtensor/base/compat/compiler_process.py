"""XLA's compiler in a process of its own, for one that cannot compile: run as a script, it answers requests until its input ends.

A request is two byte strings, XLA's options and an MLIR module, each behind its length (8 bytes); the answer is one byte (0: compiled, 1:
refused) and a string, the executable or XLA's message. May not know: jtensor, which it does not import, since that takes as long as JAX.
"""
import os
import signal


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)            # Ctrl-C is for the one that asks; it then closes the pipe
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)                                           # what XLA prints is no answer
    import jax
    from jaxlib import xla_client
    from jaxlib.lapack import prepare_lapack_call
    device = jax.devices("cpu")[0]
    where = xla_client.DeviceList((device,))
    while True:
        options, module = _string(requests), _string(requests)
        if module is None:
            return
        try:
            if b"lapack_" in module:
                prepare_lapack_call("gesdd", jax.numpy.dtype("float32"))
            settings = xla_client.CompileOptions.ParseFromString(options)
            executable = device.client.compile_and_load(module, executable_devices=where, compile_options=settings)
            refused, answer = 0, device.client.serialize_executable(executable)
        except Exception as error:
            refused, answer = 1, str(error).encode()
        answers.write(bytes([refused]) + len(answer).to_bytes(8, "little") + answer)
        answers.flush()


def _string(file):
    length = file.read(8)
    return file.read(int.from_bytes(length, "little")) if len(length) == 8 else None


if __name__ == "__main__":
    main()
