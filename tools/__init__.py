"""Tools: thin scripts over hipgemm, for developers."""
