#!/bin/bash
# git.sh - git with every eligible function moved
. tests/moving.sh
test_program /usr/bin/git git 60
done_testing
