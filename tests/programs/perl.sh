#!/bin/bash
# perl.sh - perl with every eligible function moved
. tests/moving.sh
test_program /usr/bin/perl perl 120
done_testing
