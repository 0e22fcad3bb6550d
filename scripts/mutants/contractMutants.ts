import type { Change, Mutant } from './mutant.ts';
import { mutantsOf } from './mutantsOf.ts';

const folder = 'packages/contracts';
const testsNamed = (...names: readonly string[]) => names.map((name) => `${folder}/test/${name}.test.ts`);
const moneyTests = testsNamed('campaign', 'fees', 'creation', 'multiUserBatch');
const prismTests = [...moneyTests, ...testsNamed('actions')];
const signatureTests = testsNamed('signatures', 'multiUserBatch', 'campaign');

const solidity = (file: string, tests: readonly string[], changes: readonly Change[]): readonly Mutant[] =>
  mutantsOf(`${folder}/solidity/${file}`, tests, changes);

const signatures: readonly Mutant[] = [
  ...solidity('forwarder/SignatureCheck.sol', signatureTests, [
    ['recovered == signer && fault', 'recovered == recovered && fault'],
    ['fault == ECDSA.RecoverError.NoError', 'fault <= ECDSA.RecoverError.InvalidSignature'],
    [
      'if (signer.code.length == 0) return false;',
      '',
      'An account without code answers nothing, and nothing is no valid answer.',
    ],
    ['eq(mload(0), expected)', 'or(answered, eq(mload(0), expected))'],
    ['gt(returndatasize(), 0x1f)', 'answered'],
    ['staticcall(WALLET_GAS, wallet', 'staticcall(gas(), wallet'],
    ['if (gasleft() - gasleft() / 64 < reserve) revert InsufficientGas();', ''],
  ]),
  ...solidity('forwarder/RequestGate.sol', signatureTests, [
    ['if (refusal.length == 0) refusal', 'if (refusal.length == 0 && digest == 0) refusal'],
    ['nonces[auth.signer] = nonce + 1;', ''],
    ['nonces[msg.sender]++', 'nonces[msg.sender]'],
    ['if (!SignatureCheck', 'if (SignatureCheck'],
  ]),
  ...solidity('forwarder/RequestHashes.sol', testsNamed('actions', 'prismBatches', 'signatures'), [
    ['mstore(free, typeHash)', 'mstore(free, mul(typeHash, 0))'],
    ['mstore(add(free, 0x20), cloudId)', 'mstore(add(free, 0x20), mul(cloudId, 0))'],
    ['mstore(add(free, 0x40), dataId)', 'mstore(add(free, 0x40), mul(dataId, 0))'],
    ['mstore(add(free, 0x60), payloadHash)', ''],
    ['add(auth, 0x20), 0x40)', 'add(auth, 0x20), 0x20)'],
    ['mstore(add(free, 0xc0), nonce)', 'mstore(add(free, 0xc0), mul(nonce, 0))'],
    ['keccak256(free, 0xe0)', 'keccak256(free, 0xc0)'],
  ]),
];

const windows = solidity('forwarder/RelayerPolicy.sol', testsNamed('campaign', 'signatures', 'fees'), [
  ['if (timestamp > block.timestamp) return', 'if (timestamp > block.timestamp + 3) return'],
  ['if (block.timestamp > expiredAt)', 'if (block.timestamp >= expiredAt)'],
  ['if (block.timestamp < openAt)', 'if (block.timestamp <= openAt)'],
  ['official ? 0 : priorityWindow', 'official ? priorityWindow : 0'],
  ['official ? relayerFees', '!official ? relayerFees'],
  ['shareBps > BPS', 'shareBps > BPS + 1'],
]);

const batches = solidity('Forwarder.sol', moneyTests, [
  ['nonces[signer] = nonce + 1;', 'nonces[signer] = nonce;'],
  ['if (reason.length == 0) revert SignatureCheck.InsufficientGas();', ''],
  ['fees += paid;', 'fees = paid;'],
  ['entries.length - refused.length;', 'entries.length;'],
  ['uint256 share = _relayerShare(fees, official)', 'uint256 share = fees'],
  ['digest, SignatureCheck.WALLET_RESERVE', 'digest, 0'],
  ['if (sponsored != 0) creditToken', 'if (sponsored > 7) creditToken'],
  ['creditToken.safeTransferFrom(signer, address(cloud), own);', ''],
  ['return Funding(own, sponsored);', 'return Funding(own + sponsored, 0);'],
]);

const money: readonly Mutant[] = [
  ...solidity('cloud/PrismLedger.sol', moneyTests, [
    ['if (owner_ != signer) revert', 'if (owner_ != signer && signer == address(0)) revert'],
    ['word -= fees << 160;', 'word -= fees << 161;'],
    ['delete _earnings[relayer];', ''],
    ['own + relayerAmount', 'relayerAmount'],
    ['rest + treasuryAmount', 'treasuryAmount'],
    ['fee.share, fees - fee.share', 'fees, fees - fee.share'],
    ['(balance + amount).toUint96()', 'amount.toUint96()'],
    ['if (prism.sponsored > balance) prism.sponsored = balance;', ''],
    ['if (msg.sender != forwarder)', 'if (msg.sender == address(0))'],
  ]),
  ...solidity('cloud/PrismCloud.sol', prismTests, [
    ['sponsored < left ? sponsored : left', 'sponsored < left ? sponsored : sponsored'],
    ['prism.owner != address(0) || prism.deleted', 'prism.owner != address(0)'],
    ['if (prism.pendingOwner != signer) revert NotPendingOwner(cloudId, signer);', ''],

    ['(prism.owner, prism.pendingOwner) = (signer, address(0));', 'prism.owner = signer;'],
    ['if (left != sponsored) creditToken.safeTransfer(signer, left - sponsored);', ''],
  ]),
  ...solidity('cloud/EntryCalls.sol', testsNamed('multiUserBatch', 'campaign'), [
    ['if iszero(written) { revert(0, 0) }', '', 'The core always answers true.'],
    ['returndatasize())\n            }\n            written :=', '0)\n            }\n            written :='],
    ['if iszero(answered) {', 'if 0 {'],
  ]),
  ...solidity('tokens/Payouts.sol', testsNamed('payouts'), [
    ['if (frontend == 0) revert NotAPayer(msg.sender);', ''],
    ['if (amount == 0) revert NothingToPay();', ''],
    ['keccak256(abi.encode(frontend, payment))', 'payment'],
    ['if (payer != address(0)) revert', 'if (payer == msg.sender) revert'],
    ['payerOf[payoutId] = msg.sender;', ''],
  ]),
  ...solidity('tokens/Exchange.sol', testsNamed('tokens'), [
    ['if (creditAmount < minCreditAmount)', 'if (creditAmount <= minCreditAmount)'],
    ['stablecoin.safeTransferFrom(msg.sender, treasury, stablecoinAmount);', ''],
  ]),
  ...solidity('tokens/CreditToken.sol', testsNamed('tokens'), [
    ['if (msg.sender != exchange) revert OnlyExchange(msg.sender);', ''],
  ]),
];

/** Changes to the money and signature code of the contracts. */
export const contractMutants: readonly Mutant[] = [...signatures, ...windows, ...batches, ...money];
