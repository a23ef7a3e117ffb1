# SPDX-License-Identifier: Apache-2.0
"""Does this processor have protection keys, so that any number of bytes can be watched?"""


def has_keys():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        return any(line.startswith('flags') and ' ospke' in line for line in file)
