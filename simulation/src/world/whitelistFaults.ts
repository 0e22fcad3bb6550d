/** Operators' acts on the whitelist: a relayer is shut out for a while, out of caution or by mistake. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../core/random.ts';
import type { World } from './createWorld.ts';
import type { Service } from './programs.ts';

/** Why a relayer is suspended by its operator, and not for a lie. */
export const BY_OPERATOR = 'its operator looks into something';
/** How many times longer than other faults it lasts now and then: beyond a lease and a third. */
const LONGER = 4;

/** The address of a relayer's key, in lower case. */
const addressOf = ({ relayerKeys }: World, { environment }: Service) =>
  String(relayerKeys.find(({ key }) => key === environment.RELAYER_PRIVATE_KEY)?.address).toLowerCase();

/** Whether a relayer may not work now. */
export const isShutOut = (world: World, relayer: Service): boolean =>
  world.shutOut.size > 0 && world.shutOut.has(addressOf(world, relayer));

/** Does something at the gateway until it is done: it may be down. */
async function persist(act: () => Promise<unknown>): Promise<void> {
  while (
    !(await act().then(
      () => true,
      () => false,
    ))
  )
    await pause(5000);
}

/** Lets in whom nobody wants shut out: an older copy of the gateway knows the whitelist as it was. */
export async function letIn({ admin, relayerKeys, retired, shutOut }: World): Promise<void> {
  await persist(async () => {
    const { relayers } = await admin.listRelayers();
    for (const { address } of relayerKeys) {
      if (retired.has(address.toLowerCase()) || shutOut.has(address.toLowerCase())) continue;
      const known = relayers.find((one) => one.address.toLowerCase() === address.toLowerCase());
      if (known === undefined) await admin.addRelayer({ address });
      if (known?.suspendReason === BY_OPERATOR) await admin.resumeRelayer(address);
    }
  });
}

/** Shuts a relayer out, and lets it in again. */
export async function playWhitelist(
  world: World,
  {
    random,
    minutes,
    announce,
  }: { readonly random: Random; readonly minutes: number; readonly announce: (text: string) => void },
): Promise<void> {
  const { admin, shutOut } = world;
  const relayer = random.pick(world.relayers);
  const { name } = relayer;
  const address = addressOf(world, relayer);
  const how = random.pick(['suspended', 'suspended, and what it holds released', 'taken off the whitelist']);
  shutOut.add(address);
  announce(`${name} is ${how}`);
  await persist(() =>
    how.startsWith('taken') ? admin.removeRelayer(address) : admin.suspendRelayer({ address, reason: BY_OPERATOR }),
  );
  if (how.endsWith('released')) await persist(() => admin.releaseRelayer(address));
  await pause(minutes * 60_000 * (random.chance(0.3) ? LONGER : 1));
  shutOut.delete(address);
  await letIn(world);
  announce(`${name} is let in again`);
}
