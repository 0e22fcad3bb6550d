/** What `npm run payments -- --help` prints. */
export const paymentsUsage = `Payment relayer: npx prism payments
  npx prism payments                     works until SIGTERM or SIGINT; its log is JSON, a line an event
  npx prism payments status              what is under way, balances, and which folder was read
  npx prism payments list [--state S]    payments of the journal
  npx prism payments show <intent>       one payment with its history
  npx prism payments ledger [--since DAY] [--csv]    a line a payment, and the sums of each day
  npx prism payments reconcile [--processor FILE.csv]    compares journal, chain and frontend; exit code 1 with differences, 2 if they cannot be compared
  npx prism payments release <intent> [--accept-listed]    lets a held or refused payment be tried again, or approves one over a limit
  npx prism payments hold <intent>       keeps a payment from being begun
  npx prism payments close <intent> --refunded    the card was refunded: never paid
  npx prism payments resume              goes on after KEY_USED_ELSEWHERE, EXCHANGE_BROKEN, or a restore
  npx prism payments backup <folder>     copies the journals while the relayer is at work
  npx prism payments deploy-payouts [--owner ADDRESS]    deploys the contract Payouts, through which RELAYER_ADDRESSES may pay
  All commands take --json; those that decide take --why and --who.

Settings are environment variables; each secret NAME may come from a file: NAME_FILE.

  FRONTEND_URL, RELAYER_SECRET           required   the frontend, and the secret it knows the relayer by
  RPC_URL                                required   node of the chain; CHAIN_ID, if set, must be its chain
  RELAYER_PRIVATE_KEY                    required   or RELAYER_KEYSTORE and RELAYER_KEYSTORE_PASSWORD; a key of its own for each instance
  EXCHANGE_ADDRESS, CREDIT_TOKEN_ADDRESS, STABLECOIN_ADDRESS   required
  PAYOUTS_ADDRESS                        none       contract Payouts, through which payouts go; it pays each mark once; required with RELAYER_ADDRESSES
  PAYOUTS_DEPLOYER_PRIVATE_KEY           none       for deploy-payouts: a key with ether that no instance has
  EXCHANGE_RATE, MAX_RATE_DEVIATION_BPS  1000, 500  credits for one stablecoin, and how far the Exchange's own rate may be from it
  RELAYER_ADDRESSES                      none       addresses of the other instances, past and present, with commas between
  POLL_INTERVAL_MS                       10000      how often the frontend is asked
  MAX_FEE_GWEI                           100        no payment is begun, and no transaction pays, above this gas price
  MAX_RETRIES, RETRY_DELAY_MS            5, 5000    tries of a step that fails, and the pause between
  SLIPPAGE_BPS                           100        how much less than the claim's price and a quote a buy may give, in basis points; at most 5000
  MAX_PAYMENT, DAILY_LIMIT               1000000000, 10000000000   in stablecoin base units (6 decimals); more is held
  DAILY_CREDIT_LIMIT                     DAILY_LIMIT at the best rate allowed   in credits
  MAX_IN_FLIGHT                          16         payments under way at a time
  RPC_TIMEOUT_MS, RPC_POLL_INTERVAL_MS   10000, 1000
  BUMP_AFTER_MS                          60000      a transaction not mined after this long pays more
  SEARCH_FROM_BLOCK                      0          where a new journal begins to look for payouts: the credit token's first block
  REORG_DEPTH                            32         blocks that may be replaced
  DATA_DIR                               ./data/payments   journals; one for each instance
  LOCK_DIR                               a folder of this user   locks that keep two processes of one key apart, on this machine
  LOG_LEVEL                              info       debug, info, warn, error or silent
  METRICS_PORT, METRICS_HOST             off, 127.0.0.1   serves /metrics (Prometheus) and /health; 0 = any free port
  METRICS_FILE                           none       Prometheus text, replaced in one step
  METRICS_PUSH_URL                       none       Pushgateway URL, job and instance in it

  SMTP_URL, ALERT_EMAIL_FROM, ALERT_EMAIL_TO   none   alerts by e-mail
  ALERT_CHAT_WEBHOOK_URL                 none       alerts by chat
  ALERT_CHAT_FORM, ALERT_CHAT_ID         auto       slack, discord, teams or telegram; Telegram wants the chat's id
  ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET   none    signed alerts to a program of one's own
  INSTANCE_NAME                          its address   how alerts call this instance
  LATE_AFTER_MINUTES                     30         an open or listed payment older than this is told of
  STAGE                                  dev        prod refuses plain http to a public frontend, short secrets, and two contracts at one address`;

/** What `npx prism gas-monitor --help` prints. */
export const gasMonitorUsage = `Gas monitor: npx prism gas-monitor
  npx prism gas-monitor                     watches until SIGTERM or SIGINT; its log is JSON, a line an event
  npx prism gas-monitor --once [--json]     prints what each account has, and ends with 1 where that is too little

Settings are environment variables; each secret NAME may come from a file: NAME_FILE.

  RPC_URL                                required   node of the chain, unless GAS_MONITOR_TARGETS names all
  RELAYER_PRIVATE_KEY                               or RELAYER_KEYSTORE and RELAYER_KEYSTORE_PASSWORD: whose address is watched
  RELAYER_ADDRESSES                      none       further addresses to watch; with them no key is needed
  GAS_MONITOR_TARGETS                    none       other chains: name=rpcUrl|address|address, with commas between
  GAS_WARN_BALANCE_ETH                   0.1        warns below this balance
  GAS_POLL_INTERVAL_MS                   180000     how often balances are read
  STABLECOIN_ADDRESS, EXCHANGE_ADDRESS   none       watches stablecoin balance and approval on RPC_URL's chain, too
  STABLECOIN_WARN_BALANCE                100000000  in stablecoin base units (6 decimals)
  STAGE                                  dev        or prod
  MAX_HEAD_AGE_SECONDS                   0, in prod 600   a node whose newest block is older counts as silent; 0 = off
  RPC_TIMEOUT_MS                         10000
  DATA_DIR                               ./data/payments   what has been said, so that a restart does not repeat it
  INSTANCE_NAME                          the host's name   how alerts call this monitor
  CHAIN_ID                               none       how alerts call the chain of RPC_URL
  LOG_LEVEL                              info
  METRICS_PORT, METRICS_HOST             off, 127.0.0.1   serves /metrics (Prometheus) and /health; 0 = any free port

  SMTP_URL, ALERT_EMAIL_FROM, ALERT_EMAIL_TO   none   alerts by e-mail
  ALERT_CHAT_WEBHOOK_URL                 none       alerts by chat
  ALERT_CHAT_FORM, ALERT_CHAT_ID         auto       slack, discord, teams or telegram; Telegram wants the chat's id`;
