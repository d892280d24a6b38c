# SPDX-License-Identifier: MIT
"""The host's side of memcast-vm's machines."""
