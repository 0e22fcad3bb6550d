import {
  baseUnits,
  decimalAmount,
  expected,
  flag,
  httpUrl,
  logLevel,
  portOrOff,
  setting,
  splitList,
  wholeNumber,
} from '@prism-gateway/node/settings';
import { ACTIONS, isAction } from '@prism-gateway/protocol';
import * as z from 'zod/mini';
import { chainFields, namedChains } from './chainSettings.ts';

const actionsError = expected(`a comma list of ${ACTIONS.join(', ')}`);

/** The relayer's settings: the one place of their forms, defaults and meanings. */
export const relayerSettings = {
  ...namedChains,
  GATEWAY_FEED_URL: setting(
    httpUrl(),
    "where the feed alone is read; on AWS the function's own address, which costs less",
    { unset: 'GATEWAY_URL' },
  ),
  CREDITS_PER_ETH: setting(
    chainFields.CREDITS_PER_ETH,
    'credits that one ether is worth to this relayer, like 3000000',
    {
      unset: 'required',
      heading: 'What it takes and what it pays',
    },
  ),
  FEE_MARGIN_PERCENT: setting(wholeNumber(0, 1000), 'by how much a fee must exceed the price of its gas', {
    initial: '10',
  }),
  MAX_FEE_GWEI: setting(chainFields.MAX_FEE_GWEI, 'ceiling of the gas price; above it nothing is claimed', {
    initial: '100',
  }),
  ACTIONS: setting(
    z.string().check(
      z.refine((text) => {
        const names = splitList(text);
        return names.length > 0 && names.every(isAction);
      }, actionsError),
    ),
    'the actions it takes, with commas between',
    { initial: ACTIONS.join(','), unset: 'all twelve' },
  ),
  MAX_SPONSOR_CREDITS: setting(
    baseUnits(),
    "most credits, in base units, that a sponsored creation may cost: those added, and its gas, less the relayer's share of the fee",
    { initial: '0' },
  ),
  SPONSOR_BUDGET_SIGNER: setting(baseUnits(), 'most of them for one signer in a day', { unset: 'MAX_SPONSOR_CREDITS' }),
  SPONSOR_BUDGET_DAY: setting(baseUnits(), 'most of them in a day', { unset: '100 times as many' }),
  UNKNOWN_WALLETS: setting(flag(), 'whether contract wallets are served whose code is not on its list', {
    initial: 'false',
  }),
  UNKNOWN_WALLET_MARGIN_PERCENT: setting(wholeNumber(0, 10_000), 'the margin of their fees', { initial: '100' }),
  MAX_IN_FLIGHT: setting(chainFields.MAX_IN_FLIGHT, 'most requests of a chain that are claimed and not yet reported', {
    initial: '128',
  }),
  MAX_BATCH_SIZE: setting(
    chainFields.MAX_BATCH_SIZE,
    'most writes of many users in one transaction; 1 = never gathered',
    { initial: '50' },
  ),
  CONFIRMATIONS: setting(chainFields.CONFIRMATIONS, 'blocks that finalize a transaction, the including one counted', {
    unset: '3 (1 on chain 31337)',
  }),
  BUMP_AFTER_SECONDS: setting(
    wholeNumber(1, 3600),
    'when a transaction that no block takes is offered again for more',
    {
      initial: '30',
    },
  ),
  GIVE_UP_SECONDS: setting(
    wholeNumber(0, 86_400),
    'how long a request that would revert is tried again before it is reported failed',
    { initial: '120' },
  ),
  MAX_HEAD_AGE_SECONDS: setting(
    wholeNumber(0, 86_400),
    "age from which a node's newest block is stale: by itself it ends no request; 0 = never, as on chain 31337",
    { initial: '60' },
  ),
  CLAIM_LEASE_SECONDS: setting(
    wholeNumber(0, 31_536_000),
    "how long the gateway's claims hold: its own transaction that no block takes by then is cancelled, if that is no dearer than hoping, and a silent relayer's claim is taken over a third later; 0 = for ever",
    { initial: '900' },
  ),
  LOSS_BUDGET_REQUEST: setting(decimalAmount(18), 'with one request, in ether', {
    initial: '0.005',
    heading: 'What it may lose on a chain; beyond that it leaves the party alone, and says so',
  }),
  LOSS_BUDGET_SIGNER: setting(decimalAmount(18), 'to one signer in a day, in ether', { initial: '0.01' }),
  LOSS_BUDGET_CODE: setting(decimalAmount(18), 'to all contract wallets of one code in a day, in ether', {
    initial: '0.05',
  }),
  LOSS_BUDGET_HOUR: setting(
    decimalAmount(18),
    'to all in an hour, in ether; half of it to signers that have not paid before',
    {
      initial: '0.1',
    },
  ),
  LOSS_BUDGET_DAY: setting(
    decimalAmount(18),
    'to all in a day, in ether; half of it to signers that have not paid before',
    {
      initial: '0.5',
    },
  ),
  POLL_MIN_MS: setting(wholeNumber(10, 60_000), 'shortest pause between two looks at the queue', {
    initial: '200',
    heading: 'How it runs',
  }),
  POLL_MAX_MS: setting(wholeNumber(10, 600_000), 'longest pause; it grows while there is nothing to do', {
    initial: '2000',
  }),
  DATA_DIR: setting(z.string(), 'folder of its journals; one relayer a key', { initial: './data' }),
  LOCK_DIR: setting(z.string(), 'folder of the locks on keys; relayers that share it refuse a key in use', {
    unset: 'DATA_DIR',
  }),
  METRICS_PORT: setting(portOrOff(), '/metrics (Prometheus), /health, /status; 0 = any free port, or off', {
    initial: '9464',
  }),
  METRICS_HOST: setting(z.string(), 'another address only in a network of your own', { initial: '127.0.0.1' }),
  HEARTBEAT_URL: setting(httpUrl(), 'called twice a minute while /health is well, as healthchecks services have it', {
    isSecret: true,
  }),
  LOG_LEVEL: setting(logLevel(), 'debug, info, warn, error or silent', { initial: 'info' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(z.string(), "collector of OpenTelemetry's traces; unset: nothing is traced"),
  DRAIN_SECONDS: setting(wholeNumber(0, 3600), 'how long it finishes what it has claimed after SIGTERM or SIGINT', {
    initial: '60',
  }),
} as const;
