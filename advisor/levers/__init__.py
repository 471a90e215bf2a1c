"""The ideas people propose, each a function from one deployment to another."""
