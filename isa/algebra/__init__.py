"""Terms: values of kernels, of which equal ones are one object; their rules, known bits, truth values and ranges."""
