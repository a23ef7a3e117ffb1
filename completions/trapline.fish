# SPDX-License-Identifier: Apache-2.0
# Commands and options come from the command's own --help, so that they are those of this version.

function __trapline_commands
    trapline --help 2>/dev/null | string replace -rf '^  trapline ([a-z]+) +(.*)' '$1\t$2'
end

function __trapline_command
    set -l words (commandline -opc)
    set -q words[2]; and echo $words[2]
end

function __trapline_options
    set -l command (__trapline_command)
    # A command's help may refer to that of race for the options that they share.
    set -l help (trapline $command --help 2>/dev/null)
    string match -q '*`trapline race --help` lists them*' -- $help; and set -a help (trapline race --help 2>/dev/null)
    printf '%s\n' $help | string replace -rf '^  (?:-[a-zA-Z], )?(--[a-z-]+)\S*(?: [A-Z=]+)? +(.*)' '$1\t$2'
end

function __trapline_before_program
    not contains -- -- (commandline -opc)
end

complete -c trapline -n 'test (count (commandline -opc)) -eq 1' -f -a '(__trapline_commands)'
complete -c trapline -n '__trapline_before_program; and test (count (commandline -opc)) -ge 2' -a '(__trapline_options)'
complete -c trapline -n 'not __trapline_before_program' -a '(__fish_complete_subcommand --fcs-skip=3)'
