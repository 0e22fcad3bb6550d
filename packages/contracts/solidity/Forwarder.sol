// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {EntryCalls} from "./cloud/EntryCalls.sol";
import {Fee, Funding, IPrismCloud} from "./cloud/IPrismCloud.sol";
import {RelayerPolicy} from "./forwarder/RelayerPolicy.sol";
import {RequestGate} from "./forwarder/RequestGate.sol";
import {RequestHashes as Hashes} from "./forwarder/RequestHashes.sol";
import {SignatureCheck} from "./forwarder/SignatureCheck.sol";
import {Authorization, Creation, Permit, RefusedEntry, WriteEntry} from "./forwarder/RequestTypes.sol";

/// @title The Forwarder
/// @notice Carries out what users have signed and relayers submit: twelve functions, one an action. Each checks the
///         window, the signature and the nonce, and lets the cloud contract act for the signer.
contract Forwarder is RequestGate, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice Most gas that a contract wallet may use to check its signature, in a single request as in a batch.
    uint256 public constant WALLET_GAS = SignatureCheck.WALLET_GAS;

    /// @notice The application layer that acts for the signers.
    IPrismCloud public immutable cloud;
    /// @notice The credits that prisms are funded with.
    IERC20 public immutable creditToken;

    /// @notice An address that must not be zero was.
    error ZeroAddress();
    /// @notice A multi-user batch without entries.
    error EmptyBatch();

    /// @dev What holds for all entries of a batch.
    struct Rules {
        uint256 age;
        uint256 delay;
        uint256 protocol;
        bytes32 domain;
    }

    constructor(
        address owner_,
        IPrismCloud cloud_,
        IERC20 token,
        uint32 window,
        uint32 age,
        uint16 shareBps,
        address[] memory officialRelayers,
        uint96 fee,
        uint96 maxFee
    ) EIP712("Forwarder", "1") RelayerPolicy(owner_, window, age, shareBps, officialRelayers, fee, maxFee) {
        if (address(cloud_) == address(0) || address(token) == address(0)) revert ZeroAddress();
        (cloud, creditToken) = (cloud_, token);
    }

    /// @notice CREATE_PRISM_FOR: creates a prism, funded by the signer (permit or approval) and the relayer (approval).
    /// @return cloudId keccak-256 of `(signer, salt)`, ABI-encoded.
    function createPrismFor(Creation calldata creation, Authorization calldata auth)
        external
        nonReentrant
        returns (bytes32 cloudId)
    {
        uint256 nonce = nonces[auth.signer];
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, Hashes.createPrism(creation, auth, nonce), 0);
        cloudId = cloud.createPrism(auth.signer, creation.salt, _pullFunds(creation, auth.signer), fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice CREATE_PRISM_WITH_DATA_FOR: the same, and writes the first entries; one nonce for all of it.
    function createPrismWithDataFor(
        Creation calldata creation,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Authorization calldata auth
    ) external nonReentrant returns (bytes32 cloudId) {
        uint256 nonce = nonces[auth.signer];
        bytes32 structHash = Hashes.createPrismWithData(creation, dataIds, payloads, auth, nonce);
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, structHash, protocolFee);
        Funding memory funding = _pullFunds(creation, auth.signer);
        cloudId = cloud.createPrismWithData(auth.signer, creation.salt, funding, dataIds, payloads, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice WRITE_DATA_FOR: writes a new entry.
    function writeDataFor(bytes32 cloudId, bytes32 dataId, bytes calldata payload, Authorization calldata auth)
        external
        nonReentrant
    {
        uint256 nonce = nonces[auth.signer];
        bytes32 structHash = Hashes.entryWithPayload(Hashes.WRITE_DATA, cloudId, dataId, payload, auth, nonce);
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, structHash, protocolFee);
        EntryCalls.writeData(cloud, auth.signer, cloudId, dataId, payload, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice MODIFY_DATA_FOR: replaces an entry.
    function modifyDataFor(bytes32 cloudId, bytes32 dataId, bytes calldata payload, Authorization calldata auth)
        external
        nonReentrant
    {
        uint256 nonce = nonces[auth.signer];
        bytes32 structHash = Hashes.entryWithPayload(Hashes.MODIFY_DATA, cloudId, dataId, payload, auth, nonce);
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, structHash, protocolFee);
        cloud.modifyData(auth.signer, cloudId, dataId, payload, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice DELETE_DATA_FOR: removes an entry.
    function deleteDataFor(bytes32 cloudId, bytes32 dataId, Authorization calldata auth) external nonReentrant {
        uint256 nonce = nonces[auth.signer];
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, Hashes.prismAndWord(Hashes.DELETE_DATA, cloudId, dataId, auth, nonce), 0);
        cloud.deleteData(auth.signer, cloudId, dataId, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice TRANSFER_PRISM_FOR: offers a prism to a new owner, who has to accept; the zero address withdraws an offer.
    function transferPrismFor(bytes32 cloudId, address newOwner, Authorization calldata auth) external nonReentrant {
        uint256 nonce = nonces[auth.signer];
        bytes32 word = bytes32(uint256(uint160(newOwner)));
        (bytes32 digest, Fee memory fee) =
            _open(auth, nonce, Hashes.prismAndWord(Hashes.TRANSFER_PRISM, cloudId, word, auth, nonce), 0);
        cloud.transferPrism(auth.signer, cloudId, newOwner, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice ACCEPT_TRANSFER_FOR: takes over a prism that was offered to the signer.
    function acceptTransferFor(bytes32 cloudId, Authorization calldata auth) external nonReentrant {
        uint256 nonce = nonces[auth.signer];
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, Hashes.prismOnly(Hashes.ACCEPT_TRANSFER, cloudId, auth, nonce), 0);
        cloud.acceptTransfer(auth.signer, cloudId, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice DELETE_PRISM_FOR: ends a prism for ever; what is left of its balance goes to the signer.
    function deletePrismFor(bytes32 cloudId, Authorization calldata auth) external nonReentrant {
        uint256 nonce = nonces[auth.signer];
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, Hashes.prismOnly(Hashes.DELETE_PRISM, cloudId, auth, nonce), 0);
        cloud.deletePrism(auth.signer, cloudId, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice BATCH_WRITE_DATA_FOR: writes new entries of one prism, all or none.
    function batchWriteDataFor(
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Authorization calldata auth
    ) external nonReentrant {
        uint256 nonce = nonces[auth.signer];
        bytes32 structHash =
            Hashes.entriesWithPayloads(Hashes.BATCH_WRITE_DATA, cloudId, dataIds, payloads, auth, nonce);
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, structHash, protocolFee);
        cloud.batchWriteData(auth.signer, cloudId, dataIds, payloads, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice BATCH_MODIFY_DATA_FOR: replaces entries of one prism, all or none.
    function batchModifyDataFor(
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Authorization calldata auth
    ) external nonReentrant {
        uint256 nonce = nonces[auth.signer];
        bytes32 structHash =
            Hashes.entriesWithPayloads(Hashes.BATCH_MODIFY_DATA, cloudId, dataIds, payloads, auth, nonce);
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, structHash, protocolFee);
        cloud.batchModifyData(auth.signer, cloudId, dataIds, payloads, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice BATCH_DELETE_DATA_FOR: removes entries of one prism, all or none.
    function batchDeleteDataFor(bytes32 cloudId, bytes32[] calldata dataIds, Authorization calldata auth)
        external
        nonReentrant
    {
        uint256 nonce = nonces[auth.signer];
        bytes32 structHash =
            Hashes.prismAndWord(Hashes.BATCH_DELETE_DATA, cloudId, Hashes.hashIds(dataIds), auth, nonce);
        (bytes32 digest, Fee memory fee) = _open(auth, nonce, structHash, 0);
        cloud.batchDeleteData(auth.signer, cloudId, dataIds, fee);
        _conclude(auth, nonce, digest);
    }

    /// @notice BATCH_MULTI_USER_WRITE_DATA: carries out writes that users have signed one by one.
    /// @dev One bad entry does not undo the others: it changes nothing, consumes no nonce and pays no fee. Only a lack of
    ///      gas undoes the whole batch, for it says nothing about an entry.
    /// @return refused What was not written, in the batch's order; empty when all was.
    function batchMultiUserWriteData(WriteEntry[] calldata entries)
        external
        nonReentrant
        returns (RefusedEntry[] memory refused)
    {
        if (entries.length == 0) revert EmptyBatch();
        refused = new RefusedEntry[](0);
        bool official = isOfficialRelayer[msg.sender];
        Rules memory rules;
        (rules.age, rules.delay) = _windows(official);
        rules.protocol = protocolFee;
        rules.domain = _domainSeparatorV4();
        uint256 fees = 0;
        for (uint256 i = 0; i < entries.length; ++i) {
            uint256 free = _freeMemory();
            (uint256 paid, bytes memory reason) = _writeEntry(entries[i], rules);
            if (reason.length != 0) refused = _append(refused, RefusedEntry(i, reason));
            // What a written entry has left in memory is of no use to the next one; memory costs more the more there is.
            else _resetMemory(free);
            // No sum of what prisms have paid overflows: a prism's balance is a uint96.
            unchecked {
                fees += paid;
            }
        }
        uint256 written = entries.length - refused.length;
        if (written == 0) return refused;
        uint256 share = _relayerShare(fees, official);
        cloud.accrue(msg.sender, share, fees - share + written * rules.protocol);
    }

    /// @return paid The relayer's fee; 0 where the entry was not written.
    /// @return reason Why the entry was not written; empty when it was.
    function _writeEntry(WriteEntry calldata entry, Rules memory rules)
        private
        returns (uint256 paid, bytes memory reason)
    {
        Authorization calldata auth = entry.auth;
        address signer = auth.signer;
        uint256 nonce = nonces[signer];
        bytes calldata payload = entry.payload;
        bytes32 digest = MessageHashUtils.toTypedDataHash(
            rules.domain, Hashes.entryWithPayload(Hashes.WRITE_DATA, entry.cloudId, entry.dataId, payload, auth, nonce)
        );
        reason = _checkWindow(auth.timestamp, rules.age, rules.delay);
        if (reason.length == 0) reason = _checkSignature(auth, nonce, digest, SignatureCheck.WALLET_RESERVE);
        if (reason.length == 0) {
            bool written;
            uint256 fees;
            unchecked {
                // No balance covers the largest number: a sum beyond it undoes no other entry.
                fees = auth.relayerFee + rules.protocol;
                if (fees < rules.protocol) fees = type(uint256).max;
            }
            (written, reason) = EntryCalls.writeEntryOfBatch(cloud, signer, entry.cloudId, entry.dataId, payload, fees);
            if (written) {
                // After the call, as it is undone with a call that fails; nothing that is called there calls back.
                nonces[signer] = nonce + 1;
                emit RequestExecuted(digest, signer, nonce, msg.sender, auth.relayerFee);
                return (auth.relayerFee, reason);
            }
            // Whatever is wrong with an entry has its custom error; without one, the gas has run out.
            if (reason.length == 0) revert SignatureCheck.InsufficientGas();
        }
        emit RequestRefused(digest, signer, nonce, msg.sender, reason);
    }

    function _freeMemory() private pure returns (uint256 free) {
        assembly ("memory-safe") {
            free := mload(0x40)
        }
    }

    /// @dev Only where nothing that was allocated since is used any more.
    function _resetMemory(uint256 free) private pure {
        assembly ("memory-safe") {
            mstore(0x40, free)
        }
    }

    function _append(RefusedEntry[] memory list, RefusedEntry memory last) private pure returns (RefusedEntry[] memory) {
        RefusedEntry[] memory longer = new RefusedEntry[](list.length + 1);
        for (uint256 i = 0; i < list.length; ++i) {
            longer[i] = list[i];
        }
        longer[list.length] = last;
        return longer;
    }

    /// @notice Begins a single request: lets it pass and consumes its nonce, or reverts.
    /// @param protocol The protocol's own fee.
    function _open(Authorization calldata auth, uint256 nonce, bytes32 structHash, uint256 protocol)
        private
        returns (bytes32 digest, Fee memory fee)
    {
        bool official = isOfficialRelayer[msg.sender];
        digest = _hashTypedDataV4(structHash);
        _accept(auth, nonce, digest, official);
        fee = Fee(msg.sender, auth.relayerFee, _relayerShare(auth.relayerFee, official), protocol);
    }

    /// @notice Moves a new prism's credits to the cloud contract.
    function _pullFunds(Creation calldata creation, address signer) private returns (Funding memory) {
        (uint256 own, uint256 sponsored) = (creation.fundAmount, creation.relayerFundAmount);
        if (own != 0) {
            _usePermit(creation.permit, signer, own);
            creditToken.safeTransferFrom(signer, address(cloud), own);
        }
        if (sponsored != 0) creditToken.safeTransferFrom(msg.sender, address(cloud), sponsored);
        return Funding(own, sponsored);
    }

    /// @dev A permit that fails is no reason to fail: a third party may have used the same one a moment before, and then
    ///      the allowance is there. Where it is not, the transfer says so.
    function _usePermit(Permit calldata permit, address signer, uint256 amount) private {
        if (permit.deadline == 0) return;
        try IERC20Permit(address(creditToken)).permit(
            signer, address(this), amount, permit.deadline, permit.v, permit.r, permit.s
        ) {} catch {}
    }

    /// @notice Ends a single request: tells the world.
    function _conclude(Authorization calldata auth, uint256 nonce, bytes32 digest) private {
        emit RequestExecuted(digest, auth.signer, nonce, msg.sender, auth.relayerFee);
    }
}
