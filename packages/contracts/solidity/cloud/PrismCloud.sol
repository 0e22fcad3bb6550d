// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {PrismCore} from "../core/PrismCore.sol";
import {IPrismCloud} from "./IPrismCloud.sol";
import {PrismLedger} from "./PrismLedger.sol";

/// @title The cloud contract: the application layer
/// @notice Decides who may do what with a prism, takes the fees, and lets the core keep the data. Users speak to it
///         through the Forwarder; anyone may read.
/// @dev Requests that put data on the chain pay `protocolFee` once a request, whatever the number of entries; the others
///      pay the relayer only.
contract PrismCloud is PrismLedger, IPrismCloud {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @notice Where the data lie; it obeys this contract only.
    PrismCore public immutable core;

    event PrismCreated(bytes32 indexed cloudId, address indexed owner, uint256 funds);
    event PrismTransferOffered(bytes32 indexed cloudId, address indexed owner, address indexed pendingOwner);
    event PrismTransferred(bytes32 indexed cloudId, address indexed from, address indexed to);
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
        uint96 fee,
        address treasury_
    ) PrismLedger(owner_, token, forwarder_, fee, treasury_) {
        if (address(core_) == address(0)) revert ZeroAddress();
        core = core_;
    }

    /// @inheritdoc IPrismCloud
    function createPrism(address signer, bytes32 salt, uint256 funds, uint256 relayerFee)
        external
        onlyForwarder
        returns (bytes32 cloudId)
    {
        return _create(signer, salt, funds, relayerFee);
    }

    /// @inheritdoc IPrismCloud
    function createPrismWithData(
        address signer,
        bytes32 salt,
        uint256 funds,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        uint256 relayerFee
    ) external onlyForwarder returns (bytes32 cloudId) {
        cloudId = _create(signer, salt, funds, relayerFee + protocolFee);
        core.writeBatch(cloudId, dataIds, payloads);
    }

    /// @inheritdoc IPrismCloud
    function writeData(address signer, bytes32 cloudId, bytes32 dataId, bytes calldata payload, uint256 relayerFee)
        external
        onlyForwarder
    {
        _charge(_findOwned(cloudId, signer), cloudId, relayerFee + protocolFee);
        core.write(cloudId, dataId, payload);
    }

    /// @inheritdoc IPrismCloud
    function modifyData(address signer, bytes32 cloudId, bytes32 dataId, bytes calldata payload, uint256 relayerFee)
        external
        onlyForwarder
    {
        _charge(_findOwned(cloudId, signer), cloudId, relayerFee + protocolFee);
        core.modify(cloudId, dataId, payload);
    }

    /// @inheritdoc IPrismCloud
    function deleteData(address signer, bytes32 cloudId, bytes32 dataId, uint256 relayerFee) external onlyForwarder {
        _charge(_findOwned(cloudId, signer), cloudId, relayerFee);
        core.remove(cloudId, dataId);
    }

    /// @inheritdoc IPrismCloud
    function transferPrism(address signer, bytes32 cloudId, address newOwner, uint256 relayerFee)
        external
        onlyForwarder
    {
        Prism storage prism = _findOwned(cloudId, signer);
        _charge(prism, cloudId, relayerFee);
        prism.pendingOwner = newOwner;
        emit PrismTransferOffered(cloudId, signer, newOwner);
    }

    /// @inheritdoc IPrismCloud
    function acceptTransfer(address signer, bytes32 cloudId, uint256 relayerFee) external onlyForwarder {
        Prism storage prism = _find(cloudId);
        if (prism.pendingOwner != signer) revert NotPendingOwner(cloudId, signer);
        _charge(prism, cloudId, relayerFee);
        emit PrismTransferred(cloudId, prism.owner, signer);
        prism.owner = signer;
        prism.pendingOwner = address(0);
    }

    /// @inheritdoc IPrismCloud
    /// @dev The entries are not walked, however many there are: they can no longer be read or changed, as no prism will
    ///      ever have this id again.
    function deletePrism(address signer, bytes32 cloudId, uint256 relayerFee) external onlyForwarder {
        Prism storage prism = _findOwned(cloudId, signer);
        uint256 refund = _less(prism.balance, cloudId, relayerFee);
        (prism.owner, prism.balance, prism.pendingOwner, prism.deleted) = (address(0), 0, address(0), true);
        emit PrismDeleted(cloudId, signer, refund);
        if (refund != 0) creditToken.safeTransfer(signer, refund);
    }

    /// @inheritdoc IPrismCloud
    function batchWriteData(
        address signer,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        uint256 relayerFee
    ) external onlyForwarder {
        _charge(_findOwned(cloudId, signer), cloudId, relayerFee + protocolFee);
        core.writeBatch(cloudId, dataIds, payloads);
    }

    /// @inheritdoc IPrismCloud
    function batchModifyData(
        address signer,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        uint256 relayerFee
    ) external onlyForwarder {
        _charge(_findOwned(cloudId, signer), cloudId, relayerFee + protocolFee);
        core.modifyBatch(cloudId, dataIds, payloads);
    }

    /// @inheritdoc IPrismCloud
    function batchDeleteData(address signer, bytes32 cloudId, bytes32[] calldata dataIds, uint256 relayerFee)
        external
        onlyForwarder
    {
        _charge(_findOwned(cloudId, signer), cloudId, relayerFee);
        core.removeBatch(cloudId, dataIds);
    }

    /// @inheritdoc IPrismCloud
    function settle(address relayer, uint256 relayerAmount) external onlyForwarder {
        _settle(relayer, relayerAmount);
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

    function _create(address signer, bytes32 salt, uint256 funds, uint256 fees) private returns (bytes32 cloudId) {
        cloudId = keccak256(abi.encode(signer, salt));
        Prism storage prism = _prisms[cloudId];
        if (prism.owner != address(0) || prism.deleted) revert PrismAlreadyExists(cloudId);
        (prism.owner, prism.balance) = (signer, _less(funds, cloudId, fees));
        emit PrismCreated(cloudId, signer, funds);
    }
}
