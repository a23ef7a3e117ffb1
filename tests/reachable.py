# SPDX-License-Identifier: Apache-2.0
"""Files that tests run as other users, who may not reach the build directory: in root's home, say."""
import atexit
import os
import shutil
import stat
import tempfile

LIBRARIES = ["libtrapline.so.0", *(os.path.join("src", "agent", f"libtrapline-agent{kind}.so")
                                   for kind in ("", "-heap", "-region"))]


def _can_reach(path):
    """Can everybody search the directories above, and read the file?"""
    folder = os.path.dirname(os.path.realpath(path))
    while folder != "/":
        if not os.stat(folder).st_mode & stat.S_IXOTH:
            return False
        folder = os.path.dirname(folder)
    return os.stat(path).st_mode & stat.S_IROTH


def reachable(trapline, *others):
    """Absolute paths of the command and of other files: their own, or of copies that end with the test."""
    paths = [os.path.abspath(path) for path in (trapline, *others)]
    if all(_can_reach(path) for path in paths):
        return paths
    folder = tempfile.mkdtemp(prefix="reachable-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in LIBRARIES:
        library = os.path.join(os.path.dirname(paths[0]), name)
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.exists(library):
            shutil.copy(library, target)
    for directory, _, _ in os.walk(folder):
        os.chmod(directory, 0o755)
    return [shutil.copy(path, folder) for path in paths]
