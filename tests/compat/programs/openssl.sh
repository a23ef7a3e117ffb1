# SPDX-License-Identifier: Apache-2.0
# Speed runs in four processes (their figures left out), keys, signatures, a TLS server and its clients.
set -e
openssl speed -seconds 1 -multi 4 -evp aes-256-gcm 2>/dev/null | grep -c -i aes
openssl speed -seconds 1 -bytes 1024 sha256 2>/dev/null | grep -c '^sha256'
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -days 2 -subj /CN=localhost 2>/dev/null
seq 100000 >data; openssl dgst -sha256 data
openssl dgst -sha256 -sign key -out signature data
openssl x509 -in certificate -pubkey -noout >public; openssl dgst -sha256 -verify public -signature signature data
openssl enc -aes-256-ctr -pbkdf2 -pass pass:x -in data | openssl enc -d -aes-256-ctr -pbkdf2 -pass pass:x | sha256sum
openssl prime 2305843009213693951; openssl ecparam -name prime256v1 -genkey -noout | openssl ec -check -noout 2>&1 | tail -n 1
port=$((20000 + $$ % 20000))
openssl s_server -quiet -accept $port -key key -cert certificate -www >/dev/null 2>&1 & server=$!
for i in $(seq 50); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
for version in -tls1_2 -tls1_3; do
	for i in 1 2 3; do
		printf 'GET / HTTP/1.0\r\n\r\n' | openssl s_client -quiet -ign_eof $version -connect 127.0.0.1:$port 2>/dev/null |
			grep -c -E 'HTTP/1.0 200|Secure Renegotiation|TLSv1'
	done
done
kill $server; wait $server || echo "server ended with $?"
