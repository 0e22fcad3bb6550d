import { numberToHex } from 'viem';
import { keyOf, type Machine, type Message, type Outcome, toHex } from '../evm/createExecutor.ts';
import { computeIntrinsicGas } from '../evm/intrinsicGas.ts';
import { computeNextBaseFee, priceAt } from '../fees.ts';
import { failServer, RpcFailure } from '../RpcFailure.ts';
import type { BlockEnvironment, BlockRecord } from '../records.ts';
import type { Session } from '../state/createSession.ts';
import { failOutcome, isRevert } from './failOutcome.ts';
import type { Method, NodePorts } from './ports.ts';
import { type At, applyStateOverrides, type CallRequest, chooseState, readCall } from './readParams.ts';
import { simulateBlocks } from './simulateBlocks.ts';

/** Most gas of a call, as geth has it. */
const RPC_GAS_CAP = 50_000_000n;
/** How near an estimate comes to the least gas, in thousandths. @see https://github.com/ethereum/go-ethereum/blob/master/eth/gasestimator/gasestimator.go */
const ESTIMATE_TOLERANCE = 15n;
const TRANSFER_GAS = 21_000n;
const CALL_STIPEND = 2300n;

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

/** @throws RpcFailure if the fees cannot be those of a transaction in the block */
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
      return await simulateBlocks(ports, at, params[0]);
    },
  };
}
