import type { Journal } from '../journal/openJournal.ts';
import type { ExceededBudget, Loss, Stake } from './loss.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Of the budgets of a code, an hour and a day, so much is for whoever has paid before: strangers alone can neither have a relayer stop, nor
 * have it leave those alone whose wallets are of the same code as theirs.
 */
const STRANGERS_SHARE = 2n;

/** What a relayer may lose on one chain, in wei, and give away, in base units of credits. */
export interface LossLimits {
  readonly requestWei: bigint;
  /** To one signer in a day. */
  readonly signerWei: bigint;
  /** To all contract wallets of one code in a day. */
  readonly codeWei: bigint;
  readonly hourWei: bigint;
  readonly dayWei: bigint;
  /** To one signer in a day. */
  readonly signerGifts: bigint;
  readonly dayGifts: bigint;
}

/** Who is behind a request. */
export interface Party {
  readonly requestId: string;
  /** Those who have signed it, in lower case, and the hash of their code if they are contract wallets. */
  readonly signatures: readonly { readonly signer: string; readonly code?: string | undefined }[];
}

/** What a relayer has lost, and whom it therefore leaves alone. */
export interface Budgets {
  /** @returns the budget that speaks against a request; undefined where none does */
  findExceeded(party: Party, gift?: bigint): ExceededBudget | undefined;
  /** Sets aside what is at stake with a request, as long as no budget would be exceeded if all that is under way were lost. @returns whether it is */
  hold(party: Party, stake: Stake): boolean;
  /** Sets aside what is at stake with a request that is under way already. */
  resume(party: Party, stake: Stake): void;
  release(requestId: string): void;
  /** Notes losses; on the disk with the journal's next commit. */
  addLosses(losses: readonly Loss[]): void;
  /** Notes who has paid for a transaction. */
  addCustomers(signers: readonly string[]): void;
  /** What was lost, and which budgets are used up, for people to read. */
  summary(): { readonly hourWei: bigint; readonly dayWei: bigint; readonly exceeded: readonly ExceededBudget[] };
}

/** One budget that counts for a party. */
interface Account {
  readonly budget: ExceededBudget['budget'];
  readonly party: string;
  readonly limit: bigint;
  readonly windowMs: number;
  readonly counts: (one: Pick<Loss, 'requestId' | 'signers' | 'codes'>) => boolean;
  readonly amount: (one: Stake) => bigint;
}

const wei = (one: Stake) => one.wei;
const gift = (one: Stake) => one.gift;
const ANY = () => true;

function describe(party: Party): Pick<Loss, 'requestId' | 'signers' | 'codes'> {
  const { requestId, signatures } = party;
  const codes = signatures.flatMap(({ code }) => (code === undefined ? [] : [code]));
  return { requestId, signers: signatures.map(({ signer }) => signer), codes };
}

/** The budgets that count for a party; those of gifts only where it asks for one. */
function listAccounts(
  limits: LossLimits,
  party: Party,
  options: { isCustomer: boolean; asksGift: boolean },
): Account[] {
  const { requestId, signers, codes } = describe(party);
  const share = options.isCustomer ? 1n : STRANGERS_SHARE;
  const own = { windowMs: DAY_MS, amount: wei };
  const gifts = { windowMs: DAY_MS, amount: gift };
  return [
    {
      ...own,
      budget: 'request',
      party: requestId,
      limit: limits.requestWei,
      counts: (one) => one.requestId === requestId,
    },
    ...signers.flatMap((signer): Account[] => {
      const counts: Account['counts'] = (one) => one.signers.includes(signer);
      const asGift = { ...gifts, budget: 'signerGifts', party: signer, limit: limits.signerGifts, counts } as const;
      const account = { ...own, budget: 'signer', party: signer, limit: limits.signerWei, counts } as const;
      return options.asksGift ? [account, asGift] : [account];
    }),
    ...codes.map((code): Account => {
      const counts: Account['counts'] = (one) => one.codes.includes(code);
      return { ...own, budget: 'code', party: code, limit: limits.codeWei / share, counts };
    }),
    { budget: 'hour', party: '', limit: limits.hourWei / share, windowMs: HOUR_MS, counts: ANY, amount: wei },
    { ...own, budget: 'day', party: '', limit: limits.dayWei / share, counts: ANY },
    ...(options.asksGift
      ? [{ ...gifts, budget: 'dayGifts', party: '', limit: limits.dayGifts, counts: ANY } as const]
      : []),
  ];
}

/**
 * Keeps what is lost within bounds, over restarts: to a request, to a signer, to all wallets of one code, in an hour, and in a day.
 *
 * A loss is what a transaction has cost beyond what its fees were worth: a revert, a cancel, a refused entry of a batch, a wallet that
 * used more gas than it had said.
 *
 * @param options.onExceeded - told of each budget that is used up, once until it is free again
 */
export function createBudgets(options: {
  readonly journal: Pick<Journal, 'addLosses' | 'losses' | 'addCustomers' | 'isCustomer'>;
  readonly limits: LossLimits;
  readonly now: () => number;
  readonly onExceeded: (exceeded: ExceededBudget) => void;
}): Budgets {
  const { journal, limits, now, onExceeded } = options;
  let losses: readonly Loss[] = journal.losses(now() - DAY_MS);
  const stakes = new Map<string, Stake & ReturnType<typeof describe>>();
  const told = new Map<string, ExceededBudget>();

  function fresh(windowMs: number): readonly Loss[] {
    const nowMs = now();
    if (losses.some(({ atMs }) => atMs <= nowMs - DAY_MS)) losses = losses.filter(({ atMs }) => atMs > nowMs - DAY_MS);
    return windowMs === DAY_MS ? losses : losses.filter(({ atMs }) => atMs > nowMs - windowMs);
  }

  function tell(exceeded: ExceededBudget): void {
    const key = `${exceeded.budget} ${exceeded.party}`;
    const before = told.get(key);
    told.set(key, exceeded);
    if (before === undefined || before.untilMs <= now()) onExceeded(exceeded);
  }

  /** A limit of nothing is used up by nothing. */
  function measure({ budget, party, limit, windowMs, counts, amount }: Account): ExceededBudget | undefined {
    const own = fresh(windowMs).filter((loss) => amount(loss) > 0n && counts(loss));
    const lost = own.reduce((sum, loss) => sum + amount(loss), 0n);
    if (lost < limit) return undefined;
    return { budget, party, lost, limit, untilMs: (own[0]?.atMs ?? now()) + windowMs };
  }

  function accountsOf(party: Party, asksGift: boolean): Account[] {
    const isCustomer = party.signatures.every(({ signer }) => journal.isCustomer(signer));
    return listAccounts(limits, party, { isCustomer, asksGift });
  }

  const staked = ({ counts, amount }: Account) =>
    [...stakes.values()].filter(counts).reduce((sum, stake) => sum + amount(stake), 0n);

  return {
    findExceeded(party, wanted = 0n) {
      for (const account of accountsOf(party, wanted > 0n)) {
        const exceeded = measure(account);
        if (exceeded === undefined) continue;
        tell(exceeded);
        return exceeded;
      }
      return undefined;
    },
    hold(party, stake) {
      for (const account of accountsOf(party, stake.gift > 0n)) {
        const lost = fresh(account.windowMs)
          .filter(account.counts)
          .reduce((sum, loss) => sum + account.amount(loss), 0n);
        const open = staked(account);
        // The first one may always go: what is lost is bounded by the budget and one request.
        if (open > 0n && lost + open + account.amount(stake) > account.limit) return false;
        if (lost >= account.limit) return false;
      }
      stakes.set(party.requestId, { ...describe(party), ...stake });
      return true;
    },
    resume: (party, stake) => void stakes.set(party.requestId, { ...describe(party), ...stake }),
    release: (requestId) => void stakes.delete(requestId),
    addLosses(more) {
      const real = more.filter((loss) => loss.wei > 0n || loss.gift > 0n);
      if (real.length === 0) return;
      losses = [...losses, ...real];
      journal.addLosses(real);
    },
    addCustomers: (signers) => journal.addCustomers(signers),
    summary() {
      const sum = (windowMs: number) => fresh(windowMs).reduce((total, loss) => total + loss.wei, 0n);
      const exceeded = [...told.values()].filter(({ untilMs }) => untilMs > now());
      return { hourWei: sum(HOUR_MS), dayWei: sum(DAY_MS), exceeded };
    },
  };
}
