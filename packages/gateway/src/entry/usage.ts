/** What `npm start -- --help` prints. */
export const usage = `Prism Gateway: npx prism start

Settings are environment variables; each has a default that works on one machine. Its log is JSON, a line an event.

  HOST, PORT                      127.0.0.1, 8787    where it listens
  PUBLIC_URL                      http://HOST:PORT   base of its own URLs, if clients see another one
  STAGE                           dev                dev or prod; prod refuses development defaults
  DATA_DIR                        ./data             database, local objects, generated secrets
  STORE                           sqlite             where the queue is kept: sqlite or dynamodb
  AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION, AWS_…       as the AWS SDK reads them; a local engine gets its tables
  INDEX_SHARDS                    4                  partitions of DynamoDB's indexes; only ever raise it
  REQUEST_RETENTION_DAYS          0                  when finished requests are removed; 0 is never
  PENDING_RETENTION_DAYS          30                 when requests that nobody has claimed are removed; 0 is never
  REQUESTS_ONCE                   asked              always: every signature is taken once, asked or not
  CHAINS                          any                names of the only chains that requests are taken for
  REQUESTS_TABLE, RELAYERS_TABLE, RATELIMIT_TABLE    names of its tables (service-requests-{stage}, …)
  DELIVERIES_TABLE                                   DynamoDB: deliveries of webhooks (service-deliveries-{stage})
  ADMIN_API_KEY                   change-me-…        key of the administrator; two with a comma while rotating
  CURSOR_SECRET                   generated          seals list cursors; set it where several machines serve
  CLAIM_LEASE_SECONDS             900                after how long a claim may be taken over; 0 is never
  MAX_OPEN_CLAIMS                 1000               most requests that one relayer may hold; 0 is no bound
  PUBLIC_WAIT_SECONDS             25                 longest wait of a call without a key; 0 is none
  MAX_BODY_BYTES, MAX_BATCH_SIZE  262144, 100        limits of a body and of a batch
  RATE_LIMIT_WRITES, _READS, _SIGN, _ADMIN_FAILURES  600, 3000, 600, 20 a minute and client; 0 is off
  RATE_LIMIT_CLAIMS, _REPORTS, _AUTH_FAILURES        6000, 12000, 120, the same; a batch counts each request
  RATE_LIMIT_WRITE_BYTES          16777216           bytes a minute and peer of bodies without a key
  MAX_CONNECTIONS, MAX_CONNECTIONS_PER_PEER          12000, 2000; 0 is no bound
  METRICS_PORT                    0; 9465 in prod    serves /metrics on METRICS_HOST; 0 is off
  METRICS_HOST                    127.0.0.1          another address only in a network of your own
  EXPLORER_URLS                   unset              links of the console, like eip155:1=https://etherscan.io/tx/{hash}
  STATUS_URLS                     unset              programs that it shows, like relayer=http://127.0.0.1:9464/status
  TRUSTED_PROXY_HOPS              0                  proxies in front whose X-Forwarded-For is believed
  WEBHOOKS_ALLOW_PRIVATE          false              lets webhooks go to http and private addresses
  WEBHOOKS_DELIVERED_BY           server             functions: a deployment's functions on AWS deliver, DynamoDB only
  LOG_LEVEL                       info               debug, info, warn, error or silent
  OTEL_EXPORTER_OTLP_ENDPOINT     unset              collector of OpenTelemetry's traces; unset: nothing is traced

  STORAGE_BUCKET                  unset              S3 bucket; unset: objects under DATA_DIR
  S3_FORCE_PATH_STYLE             false              for S3-compatible stores
  AWS_REGION, AWS_…, AWS_ENDPOINT_URL_S3             as the AWS SDK reads them
  STORAGE_SIGNED_URL_TTL_SECONDS  60                 lifetime of a presigned URL, 30 to 300
  STORAGE_BIND_CONTENT            true               a put must match the hash it is stored under
  STORAGE_REQUIRE_SIZE            false              a put must say its size, and is signed for no other
  STORAGE_CORS_ORIGINS            * in dev           origins that may use local presigned URLs
  MAX_OBJECT_BYTES                104857600          largest object; 100 MiB
  MAX_USER_BYTES                  10737418240        most bytes of one user's local objects; 0 is no bound
  MIN_FREE_DISK_BYTES             536870912          below it posts and uploads get 503; 0 is off

  IDENTITY_PROVIDER               oidc               oidc or privy
  IDENTITY_ISSUER                 unset              OpenID Connect issuer; unset in dev: the built-in one
  IDENTITY_APP_ID, IDENTITY_APP_SECRET               your app at the provider`;
