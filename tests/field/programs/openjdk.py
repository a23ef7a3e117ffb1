# SPDX-License-Identifier: Apache-2.0
"""OpenJDK with an HTTP server, its collectors, compilers and diagnostic commands."""
import subprocess

from program import Server, client, http_get, wrk

SOURCE = """
import com.sun.net.httpserver.*;
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class Field {
    static final ConcurrentHashMap<Integer, byte[]> cache = new ConcurrentHashMap<>();
    static final AtomicLong asked = new AtomicLong();

    public static void main(String[] words) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 100);
        server.createContext("/", exchange -> {
            int key = (int) (asked.incrementAndGet() % 997);
            cache.put(key, new byte[2000 + key]);
            int sum = 0;
            for (int i = 0; i < 2000; i++) sum += i % 7;
            synchronized (cache) { sum += cache.get(key).length - key; }
            byte[] answer = ("sum " + sum + "\\n").getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(6));
        server.start();
    }
}
"""


class OpenJdk(Server):
    name = "openjdk"
    package = "openjdk-17-jdk-headless"
    packages = ("wrk",)
    needs = ("java", "javac", "jcmd", "wrk")
    process = "java"
    operation = "HTTP requests to six threads; class histograms, thread dumps, forced collections"

    def prepare(self, place):
        subprocess.run(["javac", "-d", place.folder, place.write("Field.java", SOURCE)], check=True)

    def command(self, place):
        return ["java", "-Xmx192m", "-XX:+UseG1GC", "-cp", place.folder, "Field", str(place.port)]

    def load(self, place, outcome, seconds):
        wrk(outcome, f"http://127.0.0.1:{place.port}/", seconds, 10)

    def controls(self, place, run):
        def answer():
            return "answer: " + http_get(place.port, "/").split("\r\n\r\n")[-1].strip()

        def diagnose():
            pid = run.processes("java")[0][0]
            return "diagnosed: " + " ".join(str(len(client(["jcmd", pid, order])) > 50) for order in (
                "Thread.print", "GC.class_histogram", "GC.run", "VM.version"))

        return [answer, diagnose]


PROGRAM = OpenJdk()
