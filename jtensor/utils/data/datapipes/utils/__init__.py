"""What pipes are written with: checks of functions, files, decoders, and going on where a pipe stood (`snapshot`)."""
