// SPDX-License-Identifier: Apache-2.0
// What a virtual machine does with signals and threads: null checks and safepoints by SIGSEGV, stack
// overflow, deoptimisation, collections with parallel threads, child processes, sockets, monitors.
import java.io.*;
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;

public class Workload {
	static class Node { int value; Node next; }
	static int sumOf(Node node) { return node.value + node.next.value; }
	static int deep(int depth) { return deep(depth + 1) + 1; }
	interface Shape { int size(); }

	static void nullChecks() {
		int caught = 0;
		for (int i = 0; i < 200000; i++) {
			Node node = new Node();
			if (i % 4 != 0) node.next = node;
			try { sumOf(node); } catch (NullPointerException e) { caught++; }
		}
		System.out.println("null " + caught);
	}

	static void overflow() {
		int caught = 0;
		for (int i = 0; i < 5; i++) try { deep(0); } catch (StackOverflowError e) { caught++; }
		System.out.println("overflow " + caught);
	}

	static void deoptimise() {
		Shape[] shapes = {() -> 1, () -> 2, () -> 3};
		long sum = 0;
		for (int round = 1; round <= 3; round++)
			for (int i = 0; i < 2000000; i++) sum += shapes[i % round].size();
		System.out.println("shapes " + sum);
	}

	static void threads() throws Exception {
		Map<Integer, Integer> map = new ConcurrentHashMap<>();
		LongAdder adder = new LongAdder();
		Object lock = new Object();
		int[] guarded = new int[1];
		ExecutorService pool = Executors.newFixedThreadPool(8);
		for (int t = 0; t < 8; t++)
			pool.submit(() -> {
				for (int i = 0; i < 100000; i++) {
					map.merge(i % 1000, 1, Integer::sum);
					adder.increment();
					synchronized (lock) { guarded[0]++; }
				}
			});
		pool.shutdown();
		pool.awaitTermination(100, TimeUnit.SECONDS);
		System.out.println("map " + map.values().stream().mapToInt(i -> i).sum() + " " + adder.sum() + " " + guarded[0]);
	}

	static void collect() {
		List<byte[]> kept = new ArrayList<>();
		for (int i = 0; i < 20000; i++) {
			byte[] block = new byte[10000];
			if (i % 100 == 0) kept.add(block);
		}
		System.gc();
		System.out.println("kept " + kept.size() + " " + IntStream.range(0, 1000000).parallel().mapToLong(i -> i).sum());
	}

	static void processes() throws Exception {
		int right = 0;
		for (int i = 0; i < 10; i++) {
			Process process = new ProcessBuilder("sh", "-c", "echo text " + i + "; exit " + i).start();
			String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
			right += line.equals("text " + i) && process.waitFor() == i ? 1 : 0;
		}
		System.out.println("processes " + right);
	}

	static void sockets() throws Exception {
		ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		Thread echo = new Thread(() -> {
			try {
				for (int i = 0; i < 50; i++)
					try (Socket socket = server.accept()) { socket.getInputStream().transferTo(socket.getOutputStream()); }
			} catch (IOException e) { System.out.println(e); }
		});
		echo.start();
		int right = 0;
		for (int i = 0; i < 50; i++)
			try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
				socket.getOutputStream().write(new byte[1000]);
				socket.shutdownOutput();
				right += socket.getInputStream().readAllBytes().length == 1000 ? 1 : 0;
			}
		echo.join();
		System.out.println("sockets " + right);
	}

	public static void main(String[] arguments) throws Exception {
		nullChecks();
		overflow();
		deoptimise();
		threads();
		collect();
		processes();
		sockets();
		System.out.println("environment " + System.getenv().keySet().stream().filter(n -> n.contains("PRELOAD") || n.contains("TRAPLINE")).count());
	}
}
