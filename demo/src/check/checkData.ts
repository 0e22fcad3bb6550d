import { cloudAbi } from '@prism-gateway/contracts';
import type { Hex } from 'viem';
import { hexToString } from 'viem/utils';
import type { Expected, ExpectedPrism } from '../plan/plan.ts';
import type { World } from '../world/startWorld.ts';
import { type Checked, checkAll } from './checked.ts';

type Place = Pick<World, 'chain' | 'deployment'>;

interface EntryCheck {
  readonly fault: string | undefined;
  /** Undefined where there is to be none. */
  readonly payload: Hex | undefined;
}

async function checkEntry(
  { chain, deployment }: Place,
  entry: { readonly cloudId: Hex; readonly dataId: Hex; readonly payload: Hex | undefined },
): Promise<EntryCheck> {
  const { cloudId, dataId, payload } = entry;
  const place = { address: deployment.cloud, abi: cloudAbi, args: [cloudId, dataId] } as const;
  const has = await chain.readContract({ ...place, functionName: 'hasData' });
  if (payload === undefined)
    return { payload, fault: has ? `entry ${dataId} of ${cloudId} is still there` : undefined };
  const found = has ? await chain.readContract({ ...place, functionName: 'dataOf' }) : 'nothing';
  return { payload, fault: found === payload ? undefined : `entry ${dataId} of ${cloudId} holds ${found}` };
}

async function checkPrism({ chain, deployment }: Place, prism: ExpectedPrism): Promise<string | undefined> {
  const { cloudId, owner, balance, deleted } = prism;
  const place = { address: deployment.cloud, abi: cloudAbi, functionName: 'prisms', args: [cloudId] } as const;
  const found = await chain.readContract(place);
  const [foundOwner, , foundBalance, foundDeleted] = found;
  const isOwned = deleted || foundOwner === owner;
  const isRight = isOwned && foundBalance === balance && foundDeleted === deleted;
  return isRight ? undefined : `prism ${cloudId} is ${found.join(', ')} instead of ${owner}, ${balance}, ${deleted}`;
}

/**
 * Reads all prisms and entries back from the chain, and compares them with what was signed.
 *
 * @param world - whose chain
 * @param expected - what must be there
 */
export async function checkData(world: Place, expected: Expected): Promise<readonly Checked[]> {
  const prisms = [...expected.prisms.values()];
  const entries = prisms.flatMap(({ cloudId, entries: held, deleted }) =>
    [...held].map(([dataId, payload]) => ({ cloudId, dataId, payload: deleted ? undefined : payload })),
  );
  const entryChecks = await Promise.all(entries.map((entry) => checkEntry(world, entry)));
  const prismFaults = await Promise.all(prisms.map((prism) => checkPrism(world, prism)));
  const present = entryChecks.filter(({ payload }) => payload !== undefined);
  const newest = present.at(-1)?.payload;
  const sample = newest === undefined ? '' : `, such as "${hexToString(newest)}"`;
  return [
    checkAll({
      claim: 'the data on the chain are what was signed',
      found: `${present.length} entries equal${sample}; ${entries.length - present.length} removed ones gone`,
      faults: entryChecks.map(({ fault }) => fault).filter((fault) => fault !== undefined),
    }),
    checkAll({
      claim: 'each prism has its owner and its balance',
      found: `${prisms.length} prisms, ${prisms.filter(({ deleted }) => deleted).length} of them deleted`,
      faults: prismFaults.filter((fault) => fault !== undefined),
    }),
  ];
}
