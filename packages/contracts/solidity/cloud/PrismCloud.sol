// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {PrismCore} from "../core/PrismCore.sol";
import {EntryCalls} from "./EntryCalls.sol";
import {Fee, Funding, IPrismCloud} from "./IPrismCloud.sol";
import {PrismLedger} from "./PrismLedger.sol";

/// @title The cloud contract: the application layer
/// @notice Decides who may do what with a prism, takes the fees, and lets the core keep the data. Users speak to it
///         through the Forwarder; anyone may read.
/// @dev Requests that put data on the chain pay the protocol fee once a request, whatever the number of entries; the
///      others pay the relayer only.
contract PrismCloud is PrismLedger, IPrismCloud {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @notice Where the data lie; it obeys this contract only.
    PrismCore public immutable core;

    event PrismCreated(bytes32 indexed cloudId, address indexed owner, uint256 funds);
    event PrismTransferOffered(bytes32 indexed cloudId, address indexed owner, address indexed pendingOwner);
    event PrismTransferred(bytes32 indexed cloudId, address indexed from, address indexed to);
    /// @notice A relayer has put credits of its own into a new prism.
    event PrismSponsored(bytes32 indexed cloudId, address indexed sponsor, uint256 amount);
    /// @notice Credits of a deleted prism are among its sponsor's earnings.
    event SponsorRepaid(bytes32 indexed cloudId, address indexed sponsor, uint256 amount);
    event PrismDeleted(bytes32 indexed cloudId, address indexed owner, uint256 refund);

    /// @notice The signer has made a prism with this salt before; it may have been deleted since.
    error PrismAlreadyExists(bytes32 cloudId);
    /// @notice The prism was not offered to the signer.
    error NotPendingOwner(bytes32 cloudId, address signer);

    constructor(
        address owner_,
        IERC20 token,
        address forwarder_,
        PrismCore core_,
        address treasury_
    ) PrismLedger(owner_, token, forwarder_, treasury_) {
        if (address(core_) == address(0)) revert ZeroAddress();
        core = core_;
    }

    /// @inheritdoc IPrismCloud
    function createPrism(address signer, bytes32 salt, Funding calldata funding, Fee calldata fee)
        external
        onlyForwarder
        returns (bytes32 cloudId)
    {
        return _create(signer, salt, funding, fee);
    }

    /// @inheritdoc IPrismCloud
    function createPrismWithData(
        address signer,
        bytes32 salt,
        Funding calldata funding,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Fee calldata fee
    ) external onlyForwarder returns (bytes32 cloudId) {
        cloudId = _create(signer, salt, funding, fee);
        core.writeBatch(cloudId, dataIds, payloads);
    }

    /// @inheritdoc IPrismCloud
    function writeData(address signer, bytes32 cloudId, bytes32 dataId, bytes calldata payload, Fee calldata fee)
        external
        onlyForwarder
        returns (bool written)
    {
        _charge(cloudId, signer, fee);
        return EntryCalls.addEntry(core, cloudId, dataId, payload);
    }

    /// @inheritdoc IPrismCloud
    function modifyData(address signer, bytes32 cloudId, bytes32 dataId, bytes calldata payload, Fee calldata fee)
        external
        onlyForwarder
    {
        _charge(cloudId, signer, fee);
        core.modify(cloudId, dataId, payload);
    }

    /// @inheritdoc IPrismCloud
    function deleteData(address signer, bytes32 cloudId, bytes32 dataId, Fee calldata fee) external onlyForwarder {
        _charge(cloudId, signer, fee);
        core.remove(cloudId, dataId);
    }

    /// @inheritdoc IPrismCloud
    function transferPrism(address signer, bytes32 cloudId, address newOwner, Fee calldata fee)
        external
        onlyForwarder
    {
        _charge(cloudId, signer, fee).pendingOwner = newOwner;
        emit PrismTransferOffered(cloudId, signer, newOwner);
    }

    /// @inheritdoc IPrismCloud
    function acceptTransfer(address signer, bytes32 cloudId, Fee calldata fee) external onlyForwarder {
        Prism storage prism = _find(cloudId);
        if (prism.pendingOwner != signer) revert NotPendingOwner(cloudId, signer);
        emit PrismTransferred(cloudId, prism.owner, signer);
        (prism.owner, prism.pendingOwner) = (signer, address(0));
        _charge(cloudId, signer, fee);
    }

    /// @inheritdoc IPrismCloud
    /// @dev The entries are not walked, however many there are: they can no longer be read or changed, as no prism will
    ///      ever have this id again.
    function deletePrism(address signer, bytes32 cloudId, Fee calldata fee) external onlyForwarder {
        Prism storage prism = _findOwned(cloudId, signer);
        uint256 left = _less(prism.balance, cloudId, fee.amount);
        _earnFee(fee);
        uint256 sponsored = _returnSponsored(prism, cloudId, left);
        (prism.owner, prism.balance, prism.pendingOwner, prism.deleted) = (address(0), 0, address(0), true);
        emit PrismDeleted(cloudId, signer, left - sponsored);
        if (left != sponsored) creditToken.safeTransfer(signer, left - sponsored);
    }

    /// @inheritdoc IPrismCloud
    function batchWriteData(
        address signer,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Fee calldata fee
    ) external onlyForwarder {
        _charge(cloudId, signer, fee);
        core.writeBatch(cloudId, dataIds, payloads);
    }

    /// @inheritdoc IPrismCloud
    function batchModifyData(
        address signer,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Fee calldata fee
    ) external onlyForwarder {
        _charge(cloudId, signer, fee);
        core.modifyBatch(cloudId, dataIds, payloads);
    }

    /// @inheritdoc IPrismCloud
    function batchDeleteData(address signer, bytes32 cloudId, bytes32[] calldata dataIds, Fee calldata fee)
        external
        onlyForwarder
    {
        _charge(cloudId, signer, fee);
        core.removeBatch(cloudId, dataIds);
    }

    /// @inheritdoc IPrismCloud
    function writeEntryOfBatch(
        address signer,
        bytes32 cloudId,
        bytes32 dataId,
        bytes calldata payload,
        uint256 fees
    ) external onlyForwarder returns (bool written) {
        _spend(cloudId, signer, fees);
        return EntryCalls.addEntry(core, cloudId, dataId, payload);
    }

    /// @inheritdoc IPrismCloud
    function accrue(address relayer, uint256 relayerAmount, uint256 treasuryAmount) external onlyForwarder {
        _earn(relayer, relayerAmount, treasuryAmount);
    }

    /// @notice Reads an entry of a living prism.
    function dataOf(bytes32 cloudId, bytes32 dataId) external view returns (bytes memory) {
        _find(cloudId);
        return core.read(cloudId, dataId);
    }

    /// @notice Tells whether a living prism has an entry.
    function hasData(bytes32 cloudId, bytes32 dataId) external view returns (bool) {
        return _prisms[cloudId].owner != address(0) && core.has(cloudId, dataId);
    }

    function _create(
        address signer,
        bytes32 salt,
        Funding calldata funding,
        Fee calldata fee
    ) private returns (bytes32 cloudId) {
        cloudId = keccak256(abi.encode(signer, salt));
        Prism storage prism = _prisms[cloudId];
        if (prism.owner != address(0) || prism.deleted) revert PrismAlreadyExists(cloudId);
        uint256 funds = funding.own + funding.sponsored;
        (prism.owner, prism.balance) = (signer, _less(funds, cloudId, fee.amount + fee.protocol));
        _earnFee(fee);
        emit PrismCreated(cloudId, signer, funds);
        if (funding.sponsored == 0) return cloudId;
        (prism.sponsor, prism.sponsored) = (fee.relayer, funding.sponsored.toUint96());
        emit PrismSponsored(cloudId, fee.relayer, funding.sponsored);
    }

    /// @notice Gives a sponsor back what is left of its credits: the signer's own ones paid the fees first.
    /// @param left The prism's balance, which bounds it.
    function _returnSponsored(Prism storage prism, bytes32 cloudId, uint256 left) private returns (uint256 amount) {
        (address sponsor, uint256 sponsored) = (prism.sponsor, prism.sponsored);
        if (sponsored == 0) return 0;
        (prism.sponsor, prism.sponsored) = (address(0), 0);
        amount = sponsored < left ? sponsored : left;
        if (amount != 0) _earn(sponsor, amount, 0);
        emit SponsorRepaid(cloudId, sponsor, amount);
    }
}
