import { numberToHex } from 'viem';
import { keyOf, type Machine, type Outcome, toHex } from '../evm/createExecutor.ts';
import { computeIntrinsicGas } from '../evm/intrinsicGas.ts';
import { computeNextBaseFee, priceAt } from '../fees.ts';
import { RpcFailure } from '../RpcFailure.ts';
import type { BlockEnvironment, BlockRecord } from '../records.ts';
import type { Session } from '../state/createSession.ts';
import { failOutcome, isRevert } from './failOutcome.ts';
import type { NodePorts } from './ports.ts';
import {
  type At,
  applyStateOverrides,
  type CallRequest,
  readAddress,
  readCall,
  readHash,
  readQuantity,
} from './readParams.ts';

/** Seconds that a simulated block comes after the one before it. */
const SIMULATED_BLOCK_SECONDS = 12n;
const MAX_SIMULATED_BLOCKS = 256;

interface SimulatedPlan {
  readonly environment: BlockEnvironment;
  readonly overrides: unknown;
  readonly calls: readonly CallRequest[];
}

/** @throws RpcFailure */
function planBlocks(at: At, asked: Record<string, unknown>): readonly SimulatedPlan[] {
  const blocks = Array.isArray(asked.blockStateCalls) ? asked.blockStateCalls : [];
  if (blocks.length === 0) throw new RpcFailure(-32_602, 'empty input');
  if (blocks.length > MAX_SIMULATED_BLOCKS) throw new RpcFailure(-38_026, 'too many blocks');
  const plans: SimulatedPlan[] = [];
  let last = { number: at.block.number, timestampSeconds: BigInt(at.block.timestampSeconds) };
  let parent: Pick<BlockRecord, 'baseFeePerGas' | 'gasUsed' | 'gasLimit'> = at.block;
  for (const { blockOverrides, stateOverrides, calls } of blocks) {
    const { number, time, gasLimit, feeRecipient, prevRandao, baseFeePerGas } = Object(blockOverrides);
    const own = (value: unknown) => (value === undefined ? undefined : readQuantity(value, 0));
    const at2 = Number(own(number) ?? BigInt(last.number + 1));
    if (at2 <= last.number) {
      throw new RpcFailure(-38_020, `block numbers must be in order: ${at2} <= ${last.number}`);
    }
    const seconds = own(time) ?? last.timestampSeconds + SIMULATED_BLOCK_SECONDS;
    if (seconds <= last.timestampSeconds) {
      throw new RpcFailure(-38_021, `block timestamps must be in order: ${seconds} <= ${last.timestampSeconds}`);
    }
    const free = asked.validation === true ? computeNextBaseFee(parent) : 0n;
    const environment: BlockEnvironment = {
      number: at2,
      timestampSeconds: seconds,
      baseFeePerGas: own(baseFeePerGas) ?? free,
      gasLimit: own(gasLimit) ?? at.block.gasLimit,
      feeRecipient: feeRecipient === undefined ? at.block.feeRecipient : readAddress([feeRecipient], 0),
      prevRandao: prevRandao === undefined ? at.block.prevRandao : readHash([prevRandao], 0),
    };
    const list = Array.isArray(calls) ? calls : [];
    plans.push({ environment, overrides: stateOverrides, calls: list.map((call) => readCall(call, 0)) });
    last = { number: at2, timestampSeconds: seconds };
    parent = { ...environment, gasUsed: 0n };
  }
  return plans;
}

/** The refusal of a transaction with these terms. @throws RpcFailure */
function checkTransaction(
  session: Session,
  call: CallRequest,
  { environment, gasLimit }: { environment: BlockEnvironment; gasLimit: bigint },
): void {
  const { from, maxFeePerGas = 0n } = call;
  const account = session.account(keyOf(from));
  const nonce = account?.nonce ?? 0n;
  if (call.nonce !== undefined && call.nonce < nonce) {
    throw new RpcFailure(-38_010, `nonce too low: address ${from}, tx: ${call.nonce} state: ${nonce}`);
  }
  if (call.nonce !== undefined && call.nonce > nonce) {
    throw new RpcFailure(-38_011, `nonce too high: address ${from}, tx: ${call.nonce} state: ${nonce}`);
  }
  if (maxFeePerGas < environment.baseFeePerGas) {
    throw new RpcFailure(
      -38_012,
      `max fee per gas less than block base fee: address ${from}, maxFeePerGas: ${maxFeePerGas}, baseFee: ${environment.baseFeePerGas}`,
    );
  }
  const have = account?.balance ?? 0n;
  const want = gasLimit * maxFeePerGas + call.value;
  if (have < want) {
    throw new RpcFailure(
      -38_014,
      `insufficient funds for gas * price + value: address ${from} have ${have} want ${want}`,
    );
  }
}

/**
 * Runs `eth_simulateV1`.
 *
 * @throws RpcFailure
 * @see https://geth.ethereum.org/docs/interacting-with-geth/rpc/ns-eth#eth-simulate-v1
 */
export async function simulateBlocks(ports: NodePorts, at: At, asked: unknown): Promise<unknown> {
  const request = Object(asked) as Record<string, unknown>;
  const plans = planBlocks(at, request);
  const isValidated = request.validation === true;
  const answer = await ports.executor.use(at.block, async (machine) => {
    try {
      const blocks: object[] = [];
      for (const plan of plans) blocks.push(await simulateBlock(machine, plan, { ports, isValidated }));
      return blocks;
    } catch (error) {
      if (error instanceof RpcFailure) return error;
      throw error;
    }
  });
  if (answer instanceof RpcFailure) throw answer;
  return answer;
}

async function simulateBlock(
  machine: Machine,
  { environment, overrides, calls }: SimulatedPlan,
  { ports, isValidated }: { ports: NodePorts; isValidated: boolean },
): Promise<object> {
  applyStateOverrides(machine.session, overrides, ports.keccak256);
  const results: object[] = [];
  let used = 0n;
  for (const call of calls) {
    const gasLimit = call.gas ?? environment.gasLimit - used;
    if (used + gasLimit > environment.gasLimit) {
      throw new RpcFailure(-38_015, `block gas limit reached: ${used} >= ${environment.gasLimit}`);
    }
    if (isValidated) checkTransaction(machine.session, call, { environment, gasLimit });
    const gasPrice = isValidated
      ? priceAt({ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, ...given(call) }, environment.baseFeePerGas)
      : 0n;
    const outcome = await simulateCall(machine, call, { gasLimit, gasPrice, environment });
    used += outcome.gasUsed;
    results.push(formatResult(outcome, environment));
  }
  const { number, timestampSeconds, baseFeePerGas, gasLimit, feeRecipient, prevRandao } = environment;
  return {
    ...{ number: numberToHex(number), timestamp: numberToHex(timestampSeconds), gasLimit: numberToHex(gasLimit) },
    ...{ gasUsed: numberToHex(used), baseFeePerGas: numberToHex(baseFeePerGas), miner: feeRecipient },
    mixHash: prevRandao,
    hash: toHex(ports.keccak256(Buffer.from(`${number} ${timestampSeconds} ${used}`))),
    calls: results,
  };
}

const given = ({ maxFeePerGas, maxPriorityFeePerGas }: CallRequest) => ({
  ...(maxFeePerGas !== undefined && { maxFeePerGas }),
  ...(maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas }),
});

async function simulateCall(
  machine: Machine,
  call: CallRequest,
  how: { gasLimit: bigint; gasPrice: bigint; environment: BlockEnvironment },
): Promise<Outcome> {
  const { least } = computeIntrinsicGas(call);
  if (how.gasLimit < least) throw new RpcFailure(-38_013, `intrinsic gas too low: have ${how.gasLimit}, want ${least}`);
  const have = machine.session.account(keyOf(call.from))?.balance ?? 0n;
  if (have < call.value) {
    throw new RpcFailure(
      -38_014,
      `insufficient funds for gas * price + value: address ${call.from} have ${have} want ${call.value}`,
    );
  }
  const { gasLimit, gasPrice, environment } = how;
  return await machine.run({ ...call, gasLimit, gasPrice }, environment);
}

function formatResult(outcome: Outcome, environment: BlockEnvironment): object {
  const returnData = toHex(outcome.returned);
  const logs = outcome.logs.map((log, index) => ({
    ...log,
    ...{ blockNumber: numberToHex(environment.number), logIndex: numberToHex(index), removed: false },
  }));
  const base = { returnData, logs, gasUsed: numberToHex(outcome.gasUsed), status: outcome.isSuccess ? '0x1' : '0x0' };
  if (outcome.isSuccess) return base;
  const { message } = failOutcome(outcome);
  const error = isRevert(outcome) ? { code: 3, message, data: returnData } : { code: -32_015, message };
  return { ...base, error };
}
