// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";

/// @title Who may submit when, what share of the fee it gets, and what the protocol takes
/// @notice Official relayers may submit from a request's timestamp on, others after the priority window; nobody after
///         the maximal age. Official relayers get the whole fee, others a share; the rest goes to the treasury.
abstract contract RelayerPolicy is Ownable2Step {
    /// @notice Basis points of the whole.
    uint256 internal constant BPS = 10_000;

    /// @notice The protocol fee that was announced last.
    /// @dev It fills the slot of the pending owner: what follows shares the next one, and each request reads it.
    uint96 public announcedFee;
    /// @notice Seconds during which only official relayers may submit.
    uint32 public priorityWindow;
    /// @notice Seconds after which a request is void.
    uint32 public maxAge;
    /// @notice Share of the fee that a relayer gets that is not official, in basis points.
    uint16 public relayerShareBps;
    /// @notice Credits, in base units, that a request pays which puts data on the chain.
    uint96 public protocolFee;
    /// @notice From when on the announced fee may be applied (Unix seconds); 0: none waits.
    uint64 public feeAppliesAt;
    /// @notice No protocol fee is ever higher: what a prism's owner has agreed to by funding it.
    uint96 public immutable MAX_PROTOCOL_FEE;
    /// @notice Seconds between the announcement of a fee and the first request that pays it.
    uint256 public constant FEE_DELAY = 2 days;
    /// @notice Whether an address is an official relayer.
    mapping(address relayer => bool) public isOfficialRelayer;

    event PolicyChanged(uint32 priorityWindow, uint32 maxAge, uint16 relayerShareBps);
    event ProtocolFeeAnnounced(uint96 protocolFee, uint256 appliesAt);
    event ProtocolFeeChanged(uint96 protocolFee);
    event OfficialRelayerChanged(address indexed relayer, bool official);

    /// @notice The request may not be submitted by this relayer before `openAt` (Unix seconds).
    error RequestNotYetOpen(uint256 openAt);
    /// @notice The request was void after `expiredAt` (Unix seconds).
    error RequestExpired(uint256 expiredAt);
    /// @notice A share above the whole, or a window that outlasts the maximal age.
    error InvalidPolicy();
    /// @notice The fee is above the maximum of the deployment.
    error FeeTooHigh(uint256 fee, uint256 maximum);
    /// @notice No fee was announced, or it does not apply before `appliesAt` (Unix seconds).
    error FeeNotDue(uint256 appliesAt);

    constructor(
        address owner_,
        uint32 window,
        uint32 age,
        uint16 shareBps,
        address[] memory relayers,
        uint96 fee,
        uint96 maxFee
    ) Ownable(owner_) {
        if (fee > maxFee) revert FeeTooHigh(fee, maxFee);
        MAX_PROTOCOL_FEE = maxFee;
        _setPolicy(window, age, shareBps);
        _setProtocolFee(fee);
        for (uint256 i = 0; i < relayers.length; ++i) {
            _setOfficialRelayer(relayers[i], true);
        }
    }

    /// @notice Changes the windows and the share.
    function setPolicy(uint32 window, uint32 age, uint16 shareBps) external onlyOwner {
        _setPolicy(window, age, shareBps);
    }

    /// @notice Announces another protocol fee; whoever does not agree has `FEE_DELAY` to withdraw.
    function announceProtocolFee(uint96 fee) external onlyOwner {
        if (fee > MAX_PROTOCOL_FEE) revert FeeTooHigh(fee, MAX_PROTOCOL_FEE);
        (announcedFee, feeAppliesAt) = (fee, uint64(block.timestamp + FEE_DELAY));
        emit ProtocolFeeAnnounced(fee, feeAppliesAt);
    }

    /// @notice Applies the fee that was announced, once its time has come; anyone may.
    function applyProtocolFee() external {
        uint256 appliesAt = feeAppliesAt;
        if (appliesAt == 0 || block.timestamp < appliesAt) revert FeeNotDue(appliesAt);
        feeAppliesAt = 0;
        _setProtocolFee(announcedFee);
    }

    /// @notice Makes a relayer official, or no longer so.
    function setOfficialRelayer(address relayer, bool official) external onlyOwner {
        _setOfficialRelayer(relayer, official);
    }

    /// @notice The windows of a relayer that is official, or not: read once a transaction.
    /// @return age Seconds after which a request is void.
    /// @return delay Seconds before which this relayer may not submit it.
    function _windows(bool official) internal view returns (uint256 age, uint256 delay) {
        return (maxAge, official ? 0 : priorityWindow);
    }

    /// @notice When a relayer with these windows may submit a request of that time.
    /// @return reason The ABI-encoded custom error; empty when it may submit now.
    function _checkWindow(uint256 timestamp, uint256 age, uint256 delay) internal view returns (bytes memory reason) {
        if (timestamp > block.timestamp) return abi.encodeWithSelector(RequestNotYetOpen.selector, timestamp);
        // Unchecked: a time that was, and a uint32.
        unchecked {
            uint256 expiredAt = timestamp + age;
            if (block.timestamp > expiredAt) return abi.encodeWithSelector(RequestExpired.selector, expiredAt);
            uint256 openAt = timestamp + delay;
            if (block.timestamp < openAt) return abi.encodeWithSelector(RequestNotYetOpen.selector, openAt);
        }
    }

    /// @notice What the relayer gets of the fees of one transaction, rounded down; the remainder is the treasury's.
    /// @dev Unchecked, so that no entry of a batch can undo the others: no balance covers a fee for which this overflows.
    function _relayerShare(uint256 relayerFees, bool official) internal view returns (uint256) {
        unchecked {
            return official ? relayerFees : relayerFees * relayerShareBps / BPS;
        }
    }

    function _setPolicy(uint32 window, uint32 age, uint16 shareBps) private {
        if (shareBps > BPS || window > age) revert InvalidPolicy();
        (priorityWindow, maxAge, relayerShareBps) = (window, age, shareBps);
        emit PolicyChanged(window, age, shareBps);
    }

    function _setProtocolFee(uint96 fee) private {
        protocolFee = fee;
        emit ProtocolFeeChanged(fee);
    }

    function _setOfficialRelayer(address relayer, bool official) private {
        isOfficialRelayer[relayer] = official;
        emit OfficialRelayerChanged(relayer, official);
    }
}
