// SPDX-License-Identifier: Apache-2.0
// Goroutines, channels, collections, panics by SIGSEGV, preemption by SIGURG, timers, processes, sockets.
package main

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type node struct{ next *node }

func caught() (found bool) {
	defer func() { found = recover() != nil }()
	var empty *node
	return empty.next == nil
}

func main() {
	var total int64
	var group sync.WaitGroup
	numbers := make(chan int, 16)
	for i := 0; i < 100; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := range numbers {
				atomic.AddInt64(&total, int64(n))
			}
		}()
	}
	for i := 0; i < 100000; i++ {
		numbers <- i
	}
	close(numbers)
	group.Wait()
	fmt.Println("total", total)

	panics := 0
	for i := 0; i < 1000; i++ {
		if caught() {
			panics++
		}
	}
	fmt.Println("panics", panics)

	done := make(chan bool)
	go func() { // never calls anything: stopped by a signal
		for x := uint64(1); ; x++ {
			if x == 3e8 {
				break
			}
		}
		done <- true
	}()
	kept := [][]byte{}
	for i := 0; i < 2000; i++ {
		block := make([]byte, 50000)
		if i%100 == 0 {
			kept = append(kept, block)
		}
	}
	runtime.GC()
	<-done
	fmt.Println("kept", len(kept))

	ticks := 0
	ticker := time.NewTicker(time.Millisecond)
	for range ticker.C {
		if ticks++; ticks == 50 {
			break
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(connection, connection); connection.Close() }()
		}
	}()
	right := 0
	for i := 0; i < 50; i++ {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			panic(err)
		}
		connection.Write([]byte{byte(i)})
		back := make([]byte, 1)
		io.ReadFull(connection, back)
		if back[0] == byte(i) {
			right++
		}
		connection.Close()
	}
	output, err := exec.Command("sh", "-c", "echo child; exit 3").Output()
	fmt.Println("ticks", ticks, "sockets", right, "process", string(output), err)
}
