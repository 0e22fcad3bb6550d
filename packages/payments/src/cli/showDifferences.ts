import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@prism-gateway/node/settings';
import { type Address, isAddress, type PublicClient, zeroAddress } from 'viem';
import { ExportError, type ProcessorRow, readExport } from '../books/readExport.ts';
import { type Difference, reconcile } from '../books/reconcile.ts';
import { createTransferSearch } from '../chain/createTransferSearch.ts';
import { createFrontendClient, type FrontendClient, FrontendError } from '../frontend/createFrontendClient.ts';
import { createBroadcastTable } from '../journal/createBroadcastTable.ts';
import { createTransferTable, type Party, type PlacedTransfer } from '../journal/createTransferTable.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { makeTables } from '../journal/schema.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';
import { formatRows } from './describePayments.ts';
import { openNode, toUnreachedNode, UnreachedError } from './openNode.ts';
import { UsageError, type Words } from './parseWords.ts';

/** The exit code of books that do not agree; what cannot be compared has another one. */
const DIFFERENT = 1;

/** A card processor's export, fit to be compared. @throws UsageError */
function readProcessor(file: string): readonly ProcessorRow[] {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? `${error.code}` : 'unknown';
    throw new UsageError(`--processor: ${file} cannot be read (${code}).`);
  }
  try {
    return readExport(bytes);
  } catch (error) {
    if (error instanceof ExportError) throw new UsageError(`--processor: ${file} cannot be compared. ${error.message}`);
    throw error;
  }
}

async function findDifferences(
  settings: Settings<'reconcile'>,
  parts: { readonly journal: PaymentJournal; readonly processor: readonly ProcessorRow[] | undefined },
): Promise<readonly Difference[]> {
  const { journal } = parts;
  const { FRONTEND_URL: url, RELAYER_SECRET: secret, CREDIT_TOKEN_ADDRESS: creditToken } = settings;
  const pending = await listPending(createFrontendClient({ url, secret, timeoutMs: settings.RPC_TIMEOUT_MS }));
  const { client, chainId } = await openNode(settings, journal);
  const [owner = ''] = journal.fact('owner')?.split(' ') ?? [];
  // A journal that no payer has opened has paid nothing.
  const self = isAddress(owner) ? owner : zeroAddress;
  const config = {
    self,
    others: settings.RELAYER_ADDRESSES,
    payouts: settings.PAYOUTS_ADDRESS,
    expectedRate: BigInt(settings.EXCHANGE_RATE),
    maxRateDeviationBps: settings.MAX_RATE_DEVIATION_BPS,
  };
  try {
    const payouts = await findPayouts({
      client,
      chainId,
      creditToken,
      relayers: [self, ...config.others],
      wallets: journal.list().map(({ walletAddress }) => walletAddress),
      fromBlock: settings.SEARCH_FROM_BLOCK,
      reorgDepth: settings.REORG_DEPTH,
    });
    return await reconcile({ ...parts, client, config, payouts, pending });
  } catch (error) {
    throw toUnreachedNode(error);
  }
}

/**
 * Prints where journal, chain, frontend and a card processor's export do not agree.
 *
 * @param context - journal, settings as texts, the words of the command line, and where text goes
 * @returns the exit code: 0 if they agree, 1 if they do not
 * @throws UsageError, UnreachedError, SettingsError if they cannot be compared
 * @see docs/payments.md, "Install it"
 */
export async function showDifferences(context: {
  readonly journal: PaymentJournal;
  readonly environment: Environment;
  readonly words: Words;
  readonly print: (text: string) => void;
}): Promise<number> {
  const { journal, words, print } = context;
  const settings = parseSettings('reconcile', context.environment);
  const file = words.values.get('processor');
  const processor = file === undefined ? undefined : readProcessor(file);
  const differences = await findDifferences(settings, { journal, processor });
  if (words.flags.has('json')) print(JSON.stringify(differences, undefined, 2));
  else if (differences.length === 0) print('Journal, chain and frontend agree.');
  else print(formatRows(differences.map((difference) => ({ ...difference }))));
  return differences.length === 0 ? 0 : DIFFERENT;
}

function toUnreached(error: FrontendError): UnreachedError {
  const seen = error.message.replace(/\.$/, '');
  switch (error.code) {
    case 'FRONTEND_UNAVAILABLE':
      return new UnreachedError({
        seen: `The frontend does not answer: ${seen}`,
        setting: 'FRONTEND_URL',
        act: 'see whether it is up',
      });
    case 'FRONTEND_REFUSED':
      return new UnreachedError({
        seen: `The frontend refuses the call: ${seen}`,
        setting: 'FRONTEND_URL',
        act: 'compare it, and RELAYER_SECRET, with the frontend',
      });
    case 'FRONTEND_NONSENSE':
      return new UnreachedError({
        seen: `What answers is no frontend: ${seen}`,
        setting: 'FRONTEND_URL',
        act: 'compare it with the frontend',
      });
  }
}

/**
 * Asks the frontend what it lists as pending.
 *
 * @throws UnreachedError `NOT_REACHED`
 */
async function listPending(frontend: Pick<FrontendClient, 'listPending'>): Promise<readonly unknown[]> {
  try {
    return await frontend.listPending();
  } catch (error) {
    throw error instanceof FrontendError ? toUnreached(error) : error;
  }
}

/** Whose payouts are looked for, and where. */
interface PayoutsWanted {
  readonly client: PublicClient;
  readonly chainId: number;
  readonly creditToken: Address;
  readonly relayers: readonly Address[];
  readonly wallets: readonly Address[];
  readonly fromBlock: number;
  readonly reorgDepth: number;
}

/**
 * Searches the chain for payouts, as an instance does that remembers nothing: what its journal has found is not looked at.
 *
 * @returns transactions with a payout id, to the wallets from anyone and of the relayers to any
 * @throws NodeBehindError; viem's errors
 */
async function findPayouts(wanted: PayoutsWanted): Promise<readonly PlacedTransfer[]> {
  const partiesOf = (side: Party['side'], addresses: readonly Address[]) =>
    // Lower case of an address is an address; of what was refused for its wallet there is none.
    [
      ...new Set(addresses.filter((address) => isAddress(address)).map((address) => address.toLowerCase() as Address)),
    ].map((address) => ({ side, address }));
  const parties = [...partiesOf('from', wanted.relayers), ...partiesOf('to', wanted.wallets)];
  const database = new DatabaseSync(':memory:');
  try {
    makeTables(database);
    const transfers = createTransferTable(database);
    const search = createTransferSearch({
      ...wanted,
      transfers,
      broadcasts: createBroadcastTable(database),
      // Nothing that this search has broadcast need not be fetched.
      self: zeroAddress,
      listParties: () => parties,
      monotonicNow: () => performance.now(),
      signal: new AbortController().signal,
    });
    await search.search();
    return transfers.listAll();
  } finally {
    database.close();
  }
}
