# SPDX-License-Identifier: Apache-2.0
"""What the environment says of a benchmark's size."""
import os


def setting(name, default):
    """Of the default's type."""
    return type(default)(os.environ.get(name, default))
