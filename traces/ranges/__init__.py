"""Recorded ranges followed through the history of a file: values in, values out, but for `repository` and
`reading`."""
