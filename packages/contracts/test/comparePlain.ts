import { encodeFunctionData, type Hex, keccak256, type LocalAccount, toHex } from 'viem';
import { type ChainRig, CREDIT, createUser, FUNDS, idOf } from './chainRig.ts';
import { plainForwarderAbi } from './generated/plainForwarderAbi.ts';
import { plainForwarderBytecode } from './generated/plainForwarderBytecode.ts';
import { plainTargetAbi } from './generated/plainTargetAbi.ts';
import { plainTargetBytecode } from './generated/plainTargetBytecode.ts';

const BATCH = 50;
const GAS = 200_000n;
const PAYLOAD = `0x${'a5'.repeat(20)}` as const;
const types = {
  ForwardRequest: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'gas', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint48' },
    { name: 'data', type: 'bytes' },
  ],
} as const;

/** Deploys OpenZeppelin's forwarder with the plain target behind it. */
async function deployPlain(rig: ChainRig) {
  const forwarder = await rig.deploy(plainForwarderAbi, plainForwarderBytecode, []);
  const target = await rig.deploy(plainTargetAbi, plainTargetBytecode, [forwarder]);
  return { rig, forwarder, target };
}

type Site = Awaited<ReturnType<typeof deployPlain>>;

async function createPrism({ rig, target }: Site, signer: LocalAccount): Promise<Hex> {
  const cloudId = keccak256(toHex(signer.address));
  const create = { to: target, abi: plainTargetAbi, functionName: 'create', args: [cloudId, signer.address, FUNDS] };
  await rig.call({ from: rig.deployer, ...create });
  return cloudId;
}

/** Signs a write of 20 bytes, as the user of a wallet would. */
async function signWrite(
  { rig, forwarder, target }: Site,
  signer: LocalAccount,
  write: { cloudId: Hex; nonce: bigint },
) {
  const { cloudId, nonce } = write;
  const args = [cloudId, idOf(`plain ${nonce}`), PAYLOAD, CREDIT] as const;
  const data = encodeFunctionData({ abi: plainTargetAbi, functionName: 'write', args });
  const message = {
    from: signer.address,
    to: target,
    value: 0n,
    gas: GAS,
    deadline: Number((await rig.now()) + 3600n),
    data,
  };
  const domain = { name: 'Forwarder', version: '1', chainId: rig.deployment.chainId, verifyingContract: forwarder };
  const order = { domain, types, primaryType: 'ForwardRequest', message: { ...message, nonce } } as const;
  // A local account signs; its type would have the structs known in advance.
  return { ...message, signature: await signer.signTypedData!(order as never) };
}

async function send({ rig, forwarder }: Site, functionName: string, args: readonly unknown[]): Promise<number> {
  const call = { to: forwarder, abi: plainForwarderAbi, functionName, args };
  const { error, receipt } = await rig.call({ from: rig.official, ...call });
  if (error !== undefined || receipt.logs.length === 0)
    throw new Error(`${functionName}: ${error ?? 'nothing written'}`);
  return Number(receipt.gasUsed);
}

/**
 * Measures the same write through OpenZeppelin's ERC2771Forwarder into one contract with a fee ledger: what one would write in a day.
 *
 * @returns gas of a lone write by a signer with a nonce, and of one of 50 in a batch
 */
export async function measurePlain(rig: ChainRig): Promise<{ readonly alone: number; readonly batched: number }> {
  const site = await deployPlain(rig);
  const alice = createUser('plain alice');
  const cloudId = await createPrism(site, alice);
  await send(site, 'execute', [await signWrite(site, alice, { cloudId, nonce: 0n })]);
  const alone = await send(site, 'execute', [await signWrite(site, alice, { cloudId, nonce: 1n })]);
  const writers = Array.from({ length: BATCH }, (_, index) => createUser(`plain writer ${index}`));
  const requests: unknown[] = [];
  for (const writer of writers) {
    const own = await createPrism(site, writer);
    await send(site, 'execute', [await signWrite(site, writer, { cloudId: own, nonce: 0n })]);
    requests.push(await signWrite(site, writer, { cloudId: own, nonce: 1n }));
  }
  const batch = await send(site, 'executeBatch', [requests, `0x${'0'.repeat(40)}`]);
  return { alone, batched: Math.round(batch / BATCH) };
}
