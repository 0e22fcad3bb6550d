import { DependencyUnavailableError } from '../../ports/errors.ts';
import { type Item, put, readItem, readNumber, type Table, update } from './items.ts';

/** How this version lays requests out. */
const LAYOUT_VERSION = 2;
/** Key of the item that says how a table is laid out, and of which chains it holds requests. */
const LAYOUT_KEY: Item = { requestId: 'layout' };

/**
 * Chains whose requests stand apart in the index by status: their names come from strangers, if the settings name none. Requests of
 * further chains stand together, and who asks for one of those passes over the others.
 */
export const MOST_CHAINS_APART = 8;
/** The lane of the chains beyond. */
export const OTHER_CHAINS = '';

/** A table that this process must not use as it is: some of its requests would be in no list. */
export class TableLayoutError extends Error {
  override readonly name = 'TableLayoutError';
  readonly code = 'TABLE_LAYOUT';
}

interface RegisterOptions {
  readonly shards: number;
  /** Chains that the settings name: they stand apart in any case. */
  readonly ownChains: readonly string[];
}

/** The table's item about itself. */
export interface TableRegister {
  /**
   * Checks once that the table is for this process, and notes its shards and chains.
   *
   * @throws TableLayoutError, DependencyUnavailableError
   */
  check(): Promise<void>;
  /** The same, for calls on requests: to them a table that must not be used is an outage. */
  ready(): Promise<void>;
  /** Chooses the lane of a new request, and notes a chain that is new, while there is room. */
  laneFor(chainName: string): Promise<string>;
  /** Names the lanes in which requests of a chain may stand, or those of all. */
  lanesOf(chainName: string | undefined): Promise<readonly string[]>;
}

function evaluateLayout({ name }: Table, { shards }: RegisterOptions, layout: Item): void {
  const [version, highest] = [readNumber(layout, 'version'), readNumber(layout, 'shards')];
  if (version > LAYOUT_VERSION) {
    throw new TableLayoutError(`The table ${name} was written by a later version of the gateway; run that one.`);
  }
  if (version < LAYOUT_VERSION) {
    throw new TableLayoutError(`The table ${name} was written by an earlier version of the gateway; use a new table.`);
  }
  if (highest > shards) {
    const why = `INDEX_SHARDS is ${shards}, and requests of ${name} have been spread over ${highest}`;
    throw new TableLayoutError(`${why}: those in the shards beyond would be in no list. Set INDEX_SHARDS=${highest}.`);
  }
}

/** Stores the layout, or that this many shards are in use. @returns false if another process has just done so */
async function storeShards(table: Table, shards: number, layout: Item | undefined): Promise<boolean> {
  const set = { shards: shards };
  const answer =
    layout === undefined
      ? put(table, { ...LAYOUT_KEY, version: LAYOUT_VERSION, ...set }, { condition: 'attribute_not_exists(requestId)' })
      : update(table, { key: LAYOUT_KEY, set, condition: '#shards <= :shards' });
  return (await answer).done;
}

/** Makes the register of a table. @see docs/specification.md DYNAMO-1, DYNAMO-8 */
export function createTableRegister(table: Table, options: RegisterOptions): TableRegister {
  const { shards, ownChains } = options;
  const apart = new Set<string>();
  /** Those of them that were noted when others stood together already. */
  const late = new Set<string>();
  let isFull = false;
  let checking: Promise<void> | undefined;
  let adding: Promise<boolean> | undefined;

  function learn(layout: Item | undefined): void {
    for (const chain of (layout?.chains as ReadonlySet<string> | undefined) ?? []) apart.add(chain);
    for (const chain of (layout?.lateChains as ReadonlySet<string> | undefined) ?? []) late.add(chain);
    isFull ||= apart.size >= MOST_CHAINS_APART;
  }

  async function look(): Promise<Item | undefined> {
    const layout = await readItem(table, LAYOUT_KEY);
    learn(layout);
    return layout;
  }

  /** Notes chains, while there is room, or late in any case. @returns whether there was */
  async function add(chains: readonly string[], isLate = false): Promise<boolean> {
    const names = new Set(chains);
    const bound = {
      condition: 'attribute_not_exists(#chains) OR size(#chains) < :most',
      values: { ':most': MOST_CHAINS_APART },
    };
    const order = isLate ? { add: { chains: names, lateChains: names } } : { add: { chains: names }, ...bound };
    const { done, item } = await update(table, { key: LAYOUT_KEY, ...order });
    learn(item);
    isFull ||= !done;
    return done;
  }

  async function checkOnce(): Promise<void> {
    for (;;) {
      const layout = await look();
      if (layout !== undefined) evaluateLayout(table, options, layout);
      if (layout !== undefined && readNumber(layout, 'shards') >= shards) break;
      // Refused: another process has just begun to use the table, or more shards of it.
      if (await storeShards(table, shards, layout)) break;
    }
    const missing = ownChains.filter((chain) => !apart.has(chain));
    // Requests of theirs may stand among those of other chains already.
    if (missing.length > 0 && !(await add(missing))) await add(missing, true);
  }

  async function check(): Promise<void> {
    checking ??= checkOnce().catch((error: unknown) => {
      checking = undefined;
      throw error;
    });
    await checking;
  }

  async function ready(): Promise<void> {
    await check().catch((cause: unknown) => {
      throw cause instanceof DependencyUnavailableError ? cause : new DependencyUnavailableError('store', { cause });
    });
  }

  return {
    check,
    ready,
    async laneFor(chainName) {
      await ready();
      // One after the other: many new names at once are few writes of the one item.
      while (!apart.has(chainName) && !isFull) {
        adding ??= add([chainName]).finally(() => {
          adding = undefined;
        });
        await adding;
      }
      return apart.has(chainName) ? chainName : OTHER_CHAINS;
    },
    async lanesOf(chainName) {
      await ready();
      // Another process may have noted a chain meanwhile.
      if (chainName === undefined || !apart.has(chainName)) await look();
      if (chainName === undefined) return isFull ? [...apart, OTHER_CHAINS] : [...apart];
      const isAlone = !isFull || (apart.has(chainName) && !late.has(chainName));
      return isAlone ? [chainName] : [chainName, OTHER_CHAINS];
    },
  };
}
