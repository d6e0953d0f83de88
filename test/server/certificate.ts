/** A certificate of nobody for tests of the TLS door, valid for localhost and 127.0.0.1, with its key. */

export const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRe4ctq4MykWY9ri/
a+ttJ2PvrqCz0RDyaFIvZLOqLNuhRANCAARhvsm15ZGDjcQZjNngNmCmv5ygww+6
C3UWgRnBwnqacH9YnSolXUTPRprykT2M3HAXiu09bSjnZeTtgpQMHQp8
-----END PRIVATE KEY-----
`;

export const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUa1VubKXEjnYQrJmB3bFcGMsRw5UwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDIxMjMxMVoYDzIxMjYxMTA2
MjEyMzExWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARhvsm15ZGDjcQZjNngNmCmv5ygww+6C3UWgRnBwnqacH9YnSolXUTP
RprykT2M3HAXiu09bSjnZeTtgpQMHQp8o28wbTAdBgNVHQ4EFgQUm8c9d3ROwSWm
jZ4nYrKhjXpq6TAwHwYDVR0jBBgwFoAUm8c9d3ROwSWmjZ4nYrKhjXpq6TAwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgddt8/CoRf1JkRwMbqqlvCuiSVyTzx1EJyrR/S3Ah1xsCIB+f
YjdVdyXypYBDVaepPzbnuHBav+rpxaOoPxuLrv4k
-----END CERTIFICATE-----
`;
