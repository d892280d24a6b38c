#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Adds up results as prove does, by its parser of TAP: sum.pl [--brief] FILE…. A file is what one
# test wrote; where it ran several programs, each begins with "# program NAME" or "TAP version".
# Prints prove's summary, each failed result with the lines before it, and as the last line exactly
# "N passed, N failed, N skipped". A result that was promised and is missing is a failure, and so
# is a file that prove finds wrong. --brief: no summary and no sum, for one file.
use strict;
use warnings;
use TAP::Parser;
use TAP::Parser::Aggregator;
use TAP::Parser::Iterator::Array;
use TAP::Formatter::Console;

use constant LINES => 6;	# shown of what a test wrote before its failure

my $brief = @ARGV && $ARGV[0] eq '--brief' ? shift : 0;
my $all = TAP::Parser::Aggregator->new;
my ($passed, $failed, $skipped, $details) = (0, 0, 0, '');

# The outputs of the programs in a file, as pairs of a name and a text
sub programs {
	my ($file) = @_;
	my @parts = ([$file, '']);
	my $begun = 0;

	open my $lines, '<', $file or die "$file: $!\n";
	while (my $line = <$lines>) {
		if ($line =~ /^# program (\S+)/ && $file !~ m{/\Q$1\E$}) {
			push @parts, ["$file, $1", ''];
			$begun = 0;
		} elsif ($line =~ /^TAP version/) {
			push @parts, [$parts[-1][0], ''] if $begun;
			$begun = 1;
		}
		$parts[-1][1] .= $line;
	}
	return grep { @parts == 1 || $_->[1] =~ /^(1\.\.|ok|not ok)/m } @parts;
}

sub add {
	my ($name, $text) = @_;
	my ($wrong, @said) = 0;
	my $iterator = TAP::Parser::Iterator::Array->new([ split /\n/, $text ]);
	my $parser = TAP::Parser->new({ iterator => $iterator });

	while (my $result = $parser->next) {
		if (!$result->is_test) {
			push @said, $result->raw if $result->raw =~ /\S/;
			next;
		}
		if (!$result->is_ok) {
			$wrong++;
			splice @said, 0, -LINES() if @said > LINES;
			$details .= /^#/ ? "$_\n" : "# $_\n" for @said;
			$details .= "# $name: " . $result->raw . "\n";
		}
		@said = ();
	}
	my $missing = ($parser->tests_planned // 0) - $parser->tests_run;
	for (1 .. $missing) {
		$wrong++;
		$details .= "# $name: a result that was promised is missing\n";
	}
	if (!$wrong && $parser->has_problems) {
		$wrong++;
		$details .= "# $name: $_\n" for $parser->parse_errors;
	}
	$passed += $parser->passed - $parser->skipped;
	$skipped += $parser->skipped;
	$failed += $wrong;
	# Of the same name there may be several machines.
	my ($unique, $n) = ($name, 1);
	$unique = "$name (" . ++$n . ')' while grep { $_ eq $unique } $all->descriptions;
	$all->add($unique, $parser);
}

$all->start;
for my $file (@ARGV) {
	add(@$_) for programs($file);
}
$all->stop;
if (!$brief) {
	my $prove = TAP::Formatter::Console->new({ color => 0 });
	$prove->prepare($all->descriptions);
	$prove->summary($all) if @ARGV;
	print "# failed:\n" if $failed;
}
print $details;
printf "%d passed, %d failed, %d skipped\n", $passed, $failed, $skipped if !$brief;
exit($failed || !($passed || ($brief && $skipped)) ? 1 : 0);
