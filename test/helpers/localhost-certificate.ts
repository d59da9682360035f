// A self-signed certificate for localhost, valid until 2099, with its key. For servers in tests: the key is public.

/** The certificate in PEM. Whoever trusts it trusts everyone who has read this file. */
export const localhostCertificate = `-----BEGIN CERTIFICATE-----
MIIBrTCCAVSgAwIBAgIUKdd1hBJtjB+6sUYTU8buFFJCSjMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDEyMjIwNVoYDzIwOTkxMjI3
MTIyMjA1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATK++wucVOpRfQuyAa4L0bPpCJNRne0O+zaELGjlOryoAV//mqut9bN
g2sq11OUpJl3FHNBqMxYyLZDZRlfv9Yto4GBMH8wHQYDVR0OBBYEFJm3vfAngr6G
lQJxv3QdUwniHKfzMB8GA1UdIwQYMBaAFJm3vfAngr6GlQJxv3QdUwniHKfzMA8G
A1UdEwEB/wQFMAMBAf8wLAYDVR0RBCUwI4IJbG9jYWxob3N0hwR/AAABhxAAAAAA
AAAAAAAAAAAAAAABMAoGCCqGSM49BAMCA0cAMEQCIAVXetwvgZQu5YFL5h5Nc6a7
3wmSn6RKbQqmHMGRKDx/AiAiSC8KBzv6OhtAUx33VjRgewlGy/iRNY1fUPHWbRHJ
Aw==
-----END CERTIFICATE-----
`

/** Its private key in PEM. */
export const localhostKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgc1zu0tAcZ9lbeXQD
x1aRgN+0/4AuAgWEmeFd4G5EBBWhRANCAATK++wucVOpRfQuyAa4L0bPpCJNRne0
O+zaELGjlOryoAV//mqut9bNg2sq11OUpJl3FHNBqMxYyLZDZRlfv9Yt
-----END PRIVATE KEY-----
`
