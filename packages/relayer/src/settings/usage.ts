/** What `npm run relayer -- --help` prints. */
export const usage = `Prism relayer: npx prism relayer

Claims requests of a gateway, submits them to the Forwarder, reports. Settings are environment variables.

  npx prism relayer                            works until SIGTERM or SIGINT; its log is JSON, a line an event
  npx prism relayer status [--json]            what it holds, has judged and why, waits for, has spent and earned
  npx prism relayer explain REQUEST_ID         all that it knows of one request; --json, too
  Both read the journals of DATA_DIR, of a relayer at work or not.

  GATEWAY_URL          http://127.0.0.1:8787   the gateway; this relayer's address must be on its whitelist
  RELAYER_PRIVATE_KEY                          0x and 64 hex digits; or an encrypted keystore:
  RELAYER_KEYSTORE, RELAYER_KEYSTORE_PASSWORD  path of the file, and its password

One chain:
  CHAIN_NAME                                   the gateway's name of the chain, as requests carry it; eip155:8453 is chain 8453
  RPC_URL                                      JSON-RPC over http or https; several with commas between: the first that answers
                                               is asked, and two have to agree before a request is ended
  FORWARDER_ADDRESS                            the Forwarder's address

Several chains, instead of those three; what stands in brackets may be left out and is then as set below:
  RELAYER_CHAINS       [{"chainName": "a", "rpcUrl": "https://…", "forwarder": "0x…" [, "chainId": 1, "fromBlock": 0,
                        "creditsPerEth": "3000000", "maxFeeGwei": "50", "maxInFlight": 64, "maxBatchSize": 50, "confirmations": 3]}]

What it takes and what it pays:
  CREDITS_PER_ETH      required                credits that one ether is worth to this relayer, like 3000000
  FEE_MARGIN_PERCENT   10                      by how much a fee must exceed the price of its gas
  MAX_FEE_GWEI         100                     ceiling of the gas price; above it nothing is claimed
  ACTIONS              all twelve              comma list of the actions it takes
  MAX_SPONSOR_CREDITS  0                       most credits, in base units, that a sponsored creation may cost: those added, and
                                               its gas, less the relayer's share of the fee
  SPONSOR_BUDGET_SIGNER  MAX_SPONSOR_CREDITS   most of them for one signer in a day; all together in a day:
  SPONSOR_BUDGET_DAY   100 times as many
  UNKNOWN_WALLETS      false                   whether contract wallets are served whose code is not on its list
  UNKNOWN_WALLET_MARGIN_PERCENT  100           the margin of their fees
  MAX_IN_FLIGHT        128                     most requests of a chain that are claimed and not yet reported
  MAX_BATCH_SIZE       50                      most writes of many users in one transaction; 1 = never gathered
  CONFIRMATIONS        3 (1 on chain 31337)    blocks that settle a transaction, the including one counted
  BUMP_AFTER_SECONDS   30                      when a transaction that no block takes is offered again for more
  GIVE_UP_SECONDS      120                     how long a request that would revert is tried again before it is reported failed
  MAX_HEAD_AGE_SECONDS 60 (0 on chain 31337)   age from which a node's newest block is stale: by itself it ends no request; 0 = never
  CLAIM_LEASE_SECONDS  900                     how long the gateway's claims hold; a transaction that no block takes by then
                                               is cancelled, where that is no dearer than hoping; 0 = never
  TAKE_OVER_SECONDS    0                       age of a claim from which it is taken over, where the gateway has leases; 0 = never

What it may lose on a chain, in ether; beyond that it leaves the party alone, and says so:
  LOSS_BUDGET_REQUEST, LOSS_BUDGET_SIGNER  0.005, 0.01   with one request, to one signer in a day
  LOSS_BUDGET_CODE     0.05                    to all contract wallets of one code in a day
  LOSS_BUDGET_HOUR, LOSS_BUDGET_DAY        0.1, 0.5      to all; half of it to signers that have not paid before

How it runs:
  POLL_MIN_MS, POLL_MAX_MS  200, 2000          pause between two looks at the queue; it grows while there is nothing to do
  DATA_DIR             ./data                  its journals; one relayer a key
  LOCK_DIR             DATA_DIR                folder of the locks on keys; relayers that share it refuse a key in use
  METRICS_PORT         9464                    /metrics (Prometheus), /health, /status; 0 = any free port, or off
  METRICS_HOST         127.0.0.1               another address only in a network of your own
  LOG_LEVEL            info                    debug, info, warn, error or silent
  OTEL_EXPORTER_OTLP_ENDPOINT                  collector of OpenTelemetry's traces; unset: nothing is traced
  DRAIN_SECONDS        60                      how long it finishes what it has claimed after SIGTERM or SIGINT
`;
