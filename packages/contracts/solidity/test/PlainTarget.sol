// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";

/// @title What one would put behind OpenZeppelin's forwarder, for comparison
/// @notice The least that does what a write does: an owner, a balance that pays a fee, a ledger of who has earned what, an entry, an
///         event. One contract, no windows, no official relayers, no shares.
contract PlainTarget is ERC2771Context {
    struct Prism {
        address owner;
        uint96 balance;
    }

    struct Earnings {
        uint128 relayer;
        uint128 treasury;
    }

    uint96 public constant protocolFee = 0.1 ether;
    mapping(bytes32 cloudId => Prism) public prisms;
    mapping(address relayer => Earnings) public earnings;
    mapping(bytes32 cloudId => mapping(bytes32 dataId => bytes)) public entries;

    event DataWritten(bytes32 indexed cloudId, bytes32 indexed dataId);

    constructor(address forwarder) ERC2771Context(forwarder) {}

    function create(bytes32 cloudId, address owner, uint96 balance) external {
        prisms[cloudId] = Prism(owner, balance);
    }

    function write(bytes32 cloudId, bytes32 dataId, bytes calldata payload, uint96 relayerFee) external {
        Prism memory prism = prisms[cloudId];
        require(prism.owner == _msgSender(), "not the owner");
        uint96 protocol = protocolFee;
        prism.balance -= relayerFee + protocol;
        prisms[cloudId] = prism;
        Earnings memory earned = earnings[tx.origin];
        earned.relayer += relayerFee;
        earned.treasury += protocol;
        earnings[tx.origin] = earned;
        require(entries[cloudId][dataId].length == 0, "there already");
        entries[cloudId][dataId] = payload;
        emit DataWritten(cloudId, dataId);
    }
}
