"""Program control (SOPP): RDNA3 ISA guide 16.5."""

from isa.describe import inst

inst("s_endpgm", unit="internal", terminator=True)
