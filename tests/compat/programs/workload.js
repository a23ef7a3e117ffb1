// SPDX-License-Identifier: Apache-2.0
// Worker threads with shared memory, compiled hot loops, WebAssembly traps, child processes, a server,
// signals, compression and cryptography in the thread pool.
const { Worker, isMainThread, workerData, parentPort } = require('worker_threads');
if (!isMainThread) {
	const counts = new Int32Array(workerData);
	for (let i = 0; i < 200000; i++) Atomics.add(counts, i % 16, 1);
	parentPort.postMessage('done');
} else {
	const { execFileSync, fork } = require('child_process');
	const crypto = require('crypto'), zlib = require('zlib'), http = require('http'), util = require('util');
	(async () => {
		const shared = new SharedArrayBuffer(64);
		await Promise.all([1, 2, 3, 4].map(() => new Promise((resolve, reject) =>
			new Worker(__filename, { workerData: shared }).on('message', resolve).on('error', reject))));
		console.log('workers', new Int32Array(shared).reduce((a, b) => a + b));
		let sum = 0;
		const shapes = [{ a: 1 }, { a: 2, b: 1 }, { c: 0, a: 3 }, { d: 1, a: 4 }, { e: 1, f: 2, a: 5 }];
		for (let i = 0; i < 5e6; i++) sum = (sum + shapes[i % (1 + (i >> 20))].a) | 0; // optimised, then not
		console.log('loop', sum);
		// (func (export "f") unreachable), and one that reads outside its memory
		const trap = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10,
			5, 1, 3, 0, 0, 11]);
		try { new WebAssembly.Instance(new WebAssembly.Module(trap)).exports.f(); } catch (e) { console.log(String(e)); }
		const outside = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1,
			7, 5, 1, 1, 102, 0, 0, 10, 9, 1, 7, 0, 32, 0, 40, 2, 0, 11]);
		const read = new WebAssembly.Instance(new WebAssembly.Module(outside)).exports.f;
		let caught = 0;
		for (let i = 0; i < 200; i++) try { read(0x7fffffff); } catch { caught++; } // a SIGSEGV each
		console.log('outside', caught, read(8));
		const data = Buffer.from('trap'.repeat(100000));
		const packed = await Promise.all([...Array(8)].map(() => util.promisify(zlib.gzip)(data)));
		console.log('gzip', packed.every((one) => zlib.gunzipSync(one).equals(data)));
		const keys = await Promise.all([...Array(8)].map((_, i) => util.promisify(crypto.pbkdf2)('p', 's' + i, 20000, 32, 'sha512')));
		console.log('keys', crypto.createHash('sha256').update(Buffer.concat(keys)).digest('hex'));
		for (let i = 0; i < 10; i++) execFileSync('/bin/sh', ['-c', 'exit 0']);
		console.log('child', execFileSync('/usr/bin/printf', ['%s', 'text']).toString());
		const keep = setInterval(() => {}, 50); // a handler alone does not keep the loop
		const got = new Promise((resolve) => process.on('SIGUSR2', resolve));
		process.kill(process.pid, 'SIGUSR2');
		console.log('signal', await got);
		clearInterval(keep);
		const server = http.createServer((request, response) => response.end(request.url));
		await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
		const get = (path) => new Promise((resolve, reject) => http.get({ port: server.address().port, host: '127.0.0.1', path },
			(response) => { let text = ''; response.on('data', (d) => text += d).on('end', () => resolve(text)); }).on('error', reject));
		let right = 0;
		for (let i = 0; i < 20; i++) right += (await Promise.all([...Array(10)].map((_, j) => get('/' + i + '/' + j)))).every((t, j) => t === '/' + i + '/' + j);
		console.log('requests', right);
		server.close();
		console.log('environment', Object.keys(process.env).filter((name) => /trapline|preload/i.test(name)).length);
	})().catch((error) => { console.log('failed', error); process.exit(1); });
}
