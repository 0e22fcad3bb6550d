/** The methods that run the EVM: `eth_call`, `eth_estimateGas` and `eth_simulateV1`. */
import { numberToHex } from 'viem';
import { keyOf, type Machine, type Message, type Outcome, toHex } from '../evm/createExecutor.ts';
import { computeIntrinsicGas } from '../evm/intrinsicGas.ts';
import { computeNextBaseFee, priceAt } from '../fees.ts';
import { failReverted, failServer, RpcFailure } from '../RpcFailure.ts';
import type { BlockEnvironment, BlockRecord } from '../records.ts';
import type { Session } from '../state/createSession.ts';
import type { Method, NodePorts } from './ports.ts';
import {
  applyStateOverrides,
  type BlockChoice,
  type CallRequest,
  chooseState,
  readAddress,
  readCall,
  readHash,
  readQuantity,
} from './readParams.ts';

/** Most gas of a call, as geth has it. */
const RPC_GAS_CAP = 50_000_000n;
/** How near an estimate comes to the least gas, in thousandths. @see https://github.com/ethereum/go-ethereum/blob/master/eth/gasestimator/gasestimator.go */
const ESTIMATE_TOLERANCE = 15n;
const TRANSFER_GAS = 21_000n;
const CALL_STIPEND = 2300n;
/** Seconds that a simulated block comes after the one before it. */
const SIMULATED_BLOCK_SECONDS = 12n;
const MAX_SIMULATED_BLOCKS = 256;

type At = BlockChoice & { readonly block: BlockRecord };

function environmentOf({ block, isPending }: At, ports: NodePorts): BlockEnvironment {
  if (!isPending) return { ...pick(block), timestampSeconds: BigInt(block.timestampSeconds) };
  const seconds = Math.max(block.timestampSeconds + 1, Math.floor(ports.nowSeconds()));
  return {
    ...pick(block),
    number: block.number + 1,
    timestampSeconds: BigInt(seconds),
    baseFeePerGas: computeNextBaseFee(block),
  };
}

const pick = ({ number, baseFeePerGas, gasLimit, feeRecipient, prevRandao }: BlockRecord) => ({
  ...{ number, baseFeePerGas, gasLimit, feeRecipient, prevRandao },
});

/** @throws RpcFailure where the fees cannot be those of a transaction in the block */
function priceCall(call: CallRequest, environment: BlockEnvironment): bigint {
  const { from, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = call;
  if (maxFeePerGas === 0n && maxPriorityFeePerGas === 0n) return 0n;
  if (maxPriorityFeePerGas > maxFeePerGas) {
    throw failServer(
      `max priority fee per gas higher than max fee per gas: address ${from}, maxPriorityFeePerGas: ${maxPriorityFeePerGas}, maxFeePerGas: ${maxFeePerGas}`,
    );
  }
  if (maxFeePerGas < environment.baseFeePerGas) {
    throw failServer(
      `max fee per gas less than block base fee: address ${from}, maxFeePerGas: ${maxFeePerGas}, baseFee: ${environment.baseFeePerGas}`,
    );
  }
  return priceAt({ maxFeePerGas, maxPriorityFeePerGas }, environment.baseFeePerGas);
}

function checkFunds(session: Session, call: CallRequest, gasLimit: bigint): void {
  const have = session.account(keyOf(call.from))?.balance ?? 0n;
  const want = gasLimit * (call.maxFeePerGas ?? 0n) + call.value;
  if (have < want) {
    throw failServer(`insufficient funds for gas * price + value: address ${call.from} have ${have} want ${want}`);
  }
}

const isRevert = ({ failure }: Outcome) => failure === 'revert';

function failOutcome(outcome: Outcome): RpcFailure {
  if (isRevert(outcome)) return failReverted(toHex(outcome.returned));
  return failServer(outcome.failure === 'invalid opcode' ? 'invalid opcode: INVALID' : `${outcome.failure}`);
}

/** One run of a call that changes nothing in the end. */
async function runOnce(
  machine: Machine,
  call: CallRequest,
  { gasLimit, gasPrice, environment }: { gasLimit: bigint; gasPrice: bigint; environment: BlockEnvironment },
): Promise<Outcome> {
  const { least } = computeIntrinsicGas(call);
  if (gasLimit < least) throw failServer(`intrinsic gas too low: have ${gasLimit}, want ${least}`);
  const message: Message = { ...call, gasLimit, gasPrice };
  // Whoever pays nothing sees no base fee.
  const seen = gasPrice === 0n ? { ...environment, baseFeePerGas: 0n } : environment;
  return await machine.run(message, seen);
}

/** Makes the methods that run the EVM. */
export function createCallMethods(ports: NodePorts): Record<'eth_call' | 'eth_estimateGas' | 'eth_simulateV1', Method> {
  const { executor, keccak256 } = ports;

  interface Asked {
    readonly at: At;
    readonly call: CallRequest;
    readonly overrides: unknown;
  }

  /** Runs a call on a state of its own. */
  function attempt({ at, call, overrides }: Asked, gasLimit: bigint): Promise<Outcome | RpcFailure> {
    const environment = environmentOf(at, ports);
    return executor.use(at.block, async (machine) => {
      applyStateOverrides(machine.session, overrides, keccak256);
      try {
        const gasPrice = priceCall(call, environment);
        checkFunds(machine.session, call, gasPrice === 0n ? 0n : gasLimit);
        return await runOnce(machine, call, { gasLimit, gasPrice, environment });
      } catch (error) {
        if (error instanceof RpcFailure) return error;
        throw error;
      }
    });
  }

  /** Most gas that a call can have. */
  function capGas({ at, call }: Asked): bigint {
    let cap = call.gas !== undefined && call.gas >= TRANSFER_GAS ? call.gas : at.block.gasLimit;
    const price = call.maxFeePerGas ?? 0n;
    if (price > 0n) {
      const balance = ports.world.account(at.block, keyOf(call.from))?.balance ?? 0n;
      if (balance < call.value) throw failServer('insufficient funds for transfer');
      const allowance = (balance - call.value) / price;
      if (allowance < cap) cap = allowance;
    }
    return cap < RPC_GAS_CAP ? cap : RPC_GAS_CAP;
  }

  async function estimate(asked: Asked): Promise<bigint> {
    const cap = capGas(asked);
    const first = await attempt(asked, cap);
    if (first instanceof RpcFailure) {
      throw /^intrinsic gas too low/.test(first.message)
        ? failServer(`gas required exceeds allowance (${cap})`)
        : first;
    }
    if (!first.isSuccess) {
      throw isRevert(first)
        ? failOutcome(first)
        : first.failure === 'out of gas'
          ? failServer(`gas required exceeds allowance (${cap})`)
          : failOutcome(first);
    }
    let [low, high] = [first.gasUsed - 1n, cap];
    const succeeds = async (gasLimit: bigint) => {
      const outcome = await attempt(asked, gasLimit);
      return !(outcome instanceof RpcFailure) && outcome.isSuccess;
    };
    // A sixty-fourth is kept back at each call.
    const guess = ((first.gasUsed + first.refund + CALL_STIPEND) * 64n) / 63n;
    if (guess < high) {
      if (await succeeds(guess)) high = guess;
      else low = guess;
    }
    while (low + 1n < high && ((high - low) * 1000n) / high >= ESTIMATE_TOLERANCE) {
      const half = (high + low) / 2n;
      const middle = half > low * 2n ? low * 2n : half;
      if (await succeeds(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  return {
    async eth_call(view, params) {
      const at = chooseState(ports, view, params[1], 1);
      const call = readCall(params[0], 0);
      const asked = { at, call, overrides: params[2] };
      const gas = call.gas ?? RPC_GAS_CAP;
      const outcome = await attempt(asked, gas < RPC_GAS_CAP ? gas : RPC_GAS_CAP);
      if (outcome instanceof RpcFailure) throw outcome;
      if (!outcome.isSuccess) throw failOutcome(outcome);
      return toHex(outcome.returned);
    },
    async eth_estimateGas(view, params) {
      const at = chooseState(ports, view, params[1], 1);
      return numberToHex(await estimate({ at, call: readCall(params[0], 0), overrides: params[2] }));
    },
    async eth_simulateV1(view, params) {
      const at = chooseState(ports, view, params[1], 1);
      return await simulate(ports, at, params[0]);
    },
  };
}

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

/** @see https://geth.ethereum.org/docs/interacting-with-geth/rpc/ns-eth#eth-simulate-v1 */
async function simulate(ports: NodePorts, at: At, asked: unknown): Promise<unknown> {
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
