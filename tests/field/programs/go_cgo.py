# SPDX-License-Identifier: Apache-2.0
"""A Go server that calls C, linked by gcc, so that the loader and libc are in it."""
import os
import subprocess

from program import ROOT, Server, http_get, wrk

SOURCE = """package main

/*
#include <stdlib.h>
#include <string.h>
static int measure(int n) { char *p = malloc(n + 1); memset(p, 'x', n); p[n] = 0; int l = strlen(p); free(p); return l; }
*/
import "C"

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
)

func main() {
	var lock sync.Mutex
	seen := map[int]int{}
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		n := int(C.measure(500))
		lock.Lock()
		seen[n]++
		lock.Unlock()
		fmt.Fprintf(answer, "length %d\\n", n)
	})
	http.HandleFunc("/collect", func(answer http.ResponseWriter, request *http.Request) {
		runtime.GC()
		fmt.Fprintln(answer, "collected")
	})
	done := make(chan os.Signal, 1)
	signal.Notify(done, syscall.SIGTERM)
	go http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
	<-done
}
"""


class GoCgo(Server):
    name = "go_cgo"
    package = "golang-go"
    packages = ("gcc", "wrk")
    needs = ("go", "wrk")
    process = "field-go"
    operation = "HTTP requests that call into C; forced collections"

    def prepare(self, place):
        cache = os.path.join(ROOT, "build-field", "go-cache")
        place.write("main.go", SOURCE)
        subprocess.run(["go", "build", "-ldflags", "-linkmode=external", "-o", place.path("field-go"), "main.go"],
                       cwd=place.folder, check=True,
                       env={**os.environ, "CGO_ENABLED": "1", "GO111MODULE": "off", "GOCACHE": cache, "GOFLAGS": ""})

    def command(self, place):
        return [place.path("field-go"), str(place.port)]

    def load(self, place, outcome, seconds):
        wrk(outcome, f"http://127.0.0.1:{place.port}/", seconds, 10)

    def controls(self, place, run):
        def answers():
            return "answers: " + " ".join(http_get(place.port, path).split("\r\n\r\n")[-1].strip() for path in ("/", "/collect"))

        return [answers]


PROGRAM = GoCgo()
