"""An OpenID provider, that of the package oidc-provider-mock: over TLS, and with PKCE (S256), which the package does not check.

    openid_provider.py PORT CERTIFICATE KEY PEOPLE.json     PEOPLE: from a subject to its claims
"""

import base64
import hashlib
import io
import json
import pathlib
import sys
import urllib.parse

import oidc_provider_mock
from werkzeug.serving import make_server


class WithPkce:
    """Gives a token only for the verifier of a challenge with which a sign-in began."""

    def __init__(self, application):
        self.application = application
        self.challenges = set()

    def __call__(self, environ, start_response):
        query = dict(urllib.parse.parse_qsl(environ.get("QUERY_STRING", "")))
        if environ["PATH_INFO"] == "/oauth2/authorize" and query.get("code_challenge_method") == "S256":
            self.challenges.add(query.get("code_challenge"))
        if environ["PATH_INFO"] == "/oauth2/token":
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
            verifier = dict(urllib.parse.parse_qsl(body.decode())).get("code_verifier", "")
            digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
            if digest not in self.challenges:
                start_response("400 BAD REQUEST", [("Content-Type", "application/json")])
                return [b'{"error": "invalid_grant", "error_description": "wrong code_verifier"}']
        return self.application(environ, start_response)


def main():
    port, certificate, key, people = sys.argv[1:]
    users = [oidc_provider_mock.User(sub=sub, claims=claims)
             for sub, claims in json.loads(pathlib.Path(people).read_text()).items()]
    application = WithPkce(oidc_provider_mock.app(require_nonce=True, user_claims=users))
    make_server("127.0.0.1", int(port), application, threaded=True, ssl_context=(certificate, key)).serve_forever()


if __name__ == "__main__":
    main()
