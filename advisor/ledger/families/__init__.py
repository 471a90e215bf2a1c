"""One module a family of architectures: config.json to shapes."""
