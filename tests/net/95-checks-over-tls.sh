#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# HTTPS checks verify what they are told to verify, say what is wrong with a
# certificate, send the name that was asked for and show one of their own.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

cd "$RUN"
certificates() {
	local name

	openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=test-ca -days 30
	for name in www.example.com expired.example.com sni.example.com client; do
		openssl req -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr -subj /CN=$name
		echo "subjectAltName=DNS:$name,IP:127.0.0.1,IP:::1" > $name.ext
		openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial \
			-extfile $name.ext -out $name.pem \
			-days "$([ $name = expired.example.com ] && echo -1 || echo 30)"
	done
	openssl req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.pem \
		-subj /CN=www.example.com -addext subjectAltName=DNS:www.example.com -days 30
}
certificates > openssl.out 2>&1 || fail "no certificates: $(cat openssl.out)"
chmod 644 ./*.key # checks run as nobody
cp client.key secret.key
chmod 600 secret.key
head -c 100 /dev/zero > broken.pem
cat client.pem client.key > both.pem
cd - > /dev/null

# tls_server PORT CERTIFICATE [OPTION...]
tls_server() {
	local port=$1 name=$2

	shift 2
	serve "tls-$port" openssl s_server -accept "$port" -cert "$RUN/$name.pem" \
		-key "$RUN/$name.key" -www -quiet "$@"
	wait_until 10 listens "$port" || fail "openssl does not listen on $port"
}
tls_server 4431 www.example.com
tls_server 4432 expired.example.com
tls_server 4433 other
tls_server 4434 www.example.com -Verify 1 -verify_return_error -CAfile "$RUN/ca.pem"
tls_server 4435 www.example.com -servername sni.example.com \
	-cert2 "$RUN/sni.example.com.pem" -key2 "$RUN/sni.example.com.key"

ca="\"tls_verify\":true,\"ca_file\":\"$RUN/ca.pem\""
www="$ca,\"host\":\"www.example.com\""
for address in 127.0.0.1 ::1; do
	passes '"HTTP status 200"' https $address 4431 "$www"
	passes '"HTTP status 200"' https $address 4431 "$ca"
	passes '"HTTP status 200"' https $address 4431 "$ca,\"host\":\"www.example.com:4431\""
done

fails "\"TLS: no alternative certificate subject name matches target host name 'mail.example.com'\"" \
	https 127.0.0.1 4431 "$ca,\"host\":\"mail.example.com\""
fails '"TLS: certificate has expired"' https 127.0.0.1 4432 \
	"$ca,\"host\":\"expired.example.com\""
fails '"TLS: self-signed certificate"' https 127.0.0.1 4433 "$www"
# Not by the system's certificates, which do not know the test's.
fails '"TLS: unable to get local issuer certificate"' https 127.0.0.1 4431 \
	'"tls_verify":true,"host":"www.example.com"'

# Without verification all of them are fine.
for port in 4431 4432 4433; do
	passes '"HTTP status 200"' https 127.0.0.1 $port
	passes '"HTTP status 200"' https 127.0.0.1 $port '"host":"mail.example.com"'
done

# The server has another certificate for another name, which need not be the host.
passes '"HTTP status 200"' https 127.0.0.1 4435 "$ca,\"host\":\"sni.example.com\""
passes '"HTTP status 200"' https 127.0.0.1 4435 \
	"$ca,\"host\":\"www.example.com\",\"sni\":\"sni.example.com\""
fails "target host name 'other.example.com'" https 127.0.0.1 4435 \
	"$ca,\"host\":\"sni.example.com\",\"sni\":\"other.example.com\""

fails '"TLS: ' https 127.0.0.1 4434 "$www"
passes '"HTTP status 200"' https 127.0.0.1 4434 \
	"$www,\"cert_file\":\"$RUN/client.pem\",\"key_file\":\"$RUN/client.key\""
passes '"HTTP status 200"' https 127.0.0.1 4434 "$www,\"cert_file\":\"$RUN/both.pem\""

# Files that are no good, or that nobody may read.
fails "TLS: cannot use the client certificate '$RUN/client.pem'" https 127.0.0.1 4434 \
	"$www,\"cert_file\":\"$RUN/client.pem\",\"key_file\":\"$RUN/secret.key\""
fails "TLS: cannot use the client certificate '$RUN/nowhere.pem'" https 127.0.0.1 4434 \
	"$www,\"cert_file\":\"$RUN/nowhere.pem\""
fails "TLS: cannot read certificates from '$RUN/broken.pem'" https 127.0.0.1 4431 \
	"\"tls_verify\":true,\"ca_file\":\"$RUN/broken.pem\""
fails "TLS: cannot read certificates from '$RUN/nowhere.pem'" https 127.0.0.1 4431 \
	"\"tls_verify\":true,\"ca_file\":\"$RUN/nowhere.pem\""
