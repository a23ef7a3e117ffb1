# SPDX-License-Identifier: Apache-2.0
"""fio with its threads, and the thread that tells how far they are."""
import json
import re

from program import Batch

JOBS = """
[global]
thread
ioengine=psync
directory={folder}
size=16m
bs=4k
time_based
runtime=6
group_reporting
random_generator=lfsr
log_avg_msec=100
write_bw_log={folder}/bandwidth
[readers]
rw=randread
rate_iops=3000
numjobs=3
[writers]
rw=randwrite
rate_iops=3000
numjobs=2
"""


class Fio(Batch):
    name = package = "fio"
    needs = ("fio",)
    quick = True
    amount = 6 * 5 * 3000
    operation = "reads and writes of five threads at a given rate; status and logs ten times a second"

    def prepare(self, place):
        place.write("jobs", JOBS.format(folder=place.folder))

    def command(self, place):
        return ["fio", "--output-format=json", "--output=" + place.path("out.json"), "--status-interval=1",
                "--eta=always", place.path("jobs")]

    def results(self, place, run):
        with open(place.path("out.json"), encoding="utf-8") as file:
            last = json.loads(re.split(r"\n(?=\{\n)", file.read().strip())[-1])
        for job in last["jobs"]:
            yield f"{job['jobname']}: error {job['error']}, {job['read']['total_ios'] > 0} {job['write']['total_ios'] > 0}"


PROGRAM = Fio()
