#!/bin/bash
# shell.sh - bash, gzip and sort with every eligible function moved
. tests/moving.sh
test_program /usr/bin/bash bash 2000
test_program /usr/bin/gzip gzip 1500
test_program /usr/bin/sort sort 2000
done_testing
