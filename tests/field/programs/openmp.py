# SPDX-License-Identifier: Apache-2.0
"""A program of many short parallel regions, compiled by gcc, on libgomp as Debian has it."""
import subprocess

from program import Batch

SOURCE = """
#include <stdio.h>

#define SIZE 20000

static double values[SIZE];

int main(void)
{
	double sum = 0;

	for (int region = 0; region < 20000; region++) {
		#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 500) num_threads(4)
		for (int i = 0; i < SIZE; i++) {
			values[i] += (i + region) % 7;
			sum += values[i] > 3;
		}
		if (region % 100 == 0) {
			#pragma omp parallel num_threads(4)
			#pragma omp single
			for (int i = 0; i < 50; i++) {
				#pragma omp task depend(inout : values[i])
				values[i] += 1;
			}
		}
	}
	printf("%.0f\\n", sum);
	return 0;
}
"""


class OpenMp(Batch):
    name = "openmp"
    package = "libgomp1"
    packages = ("gcc", "libc6-dev")
    needs = ("gcc",)
    operation = "parallel regions of four threads, loops and tasks"
    amount = 20000

    def prepare(self, place):
        source = place.write("regions.c", SOURCE)
        subprocess.run(["gcc", "-O2", "-fopenmp", "-o", place.path("regions"), source], check=True)

    def environment(self, place):
        return {**super().environment(place), "OMP_WAIT_POLICY": "passive"}

    def command(self, place):
        return [place.path("regions")]

    def results(self, place, run):
        return [line for line in run.text().splitlines() if line.isdigit()]


PROGRAM = OpenMp()
