// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Forwarder} from "../Forwarder.sol";
import {PrismCloud} from "../cloud/PrismCloud.sol";
import {Authorization, Creation, Permit, RefusedEntry, WriteEntry} from "../forwarder/RequestTypes.sol";
import {HostileWallet} from "./HostileWallet.sol";

/// @title A campaign of calls, for tests
/// @notice A relayer with wallets of its own that asks for anything, sensible or not, in any order, and knows for each call
///         what must become of it: the rules of prisms, entries, fees, windows and nonces, told once more. The first thing
///         that is otherwise reverts the whole run.
contract Campaign {
    /// @dev What the rules say that a prism is.
    struct Model {
        address owner;
        address pending;
        uint256 balance;
        uint256 sponsored;
        bool deleted;
        bool known;
    }

    uint256 private constant USERS = 4;
    uint256 private constant PRISMS = 8;
    uint256 private constant IDS = 3;
    uint256 private constant STEP_GAS = 6_000_000;

    Forwarder private immutable forwarder;
    PrismCloud private immutable cloud;
    IERC20 private immutable token;
    uint256 private immutable supply;

    HostileWallet[USERS] private wallets;
    uint256[USERS] private nonces;
    mapping(uint256 prism => Model) private prisms;
    mapping(uint256 prism => mapping(uint256 id => bytes32)) private entries;
    uint256 private earned;
    uint256 private treasuryEarned;
    uint256 private random;

    /// @notice Calls that were made, and requests among them that were carried out and that were not.
    uint256 public calls;
    uint256 public done;
    uint256 public refused;

    /// @notice Something is otherwise than the rules say.
    error Broken(string what, uint256 call);

    constructor(Forwarder forwarder_, PrismCloud cloud_, IERC20 token_) {
        (forwarder, cloud, token, supply) = (forwarder_, cloud_, token_, token_.totalSupply());
        token_.approve(address(forwarder_), type(uint256).max);
        token_.approve(address(cloud_), type(uint256).max);
        for (uint256 i = 0; i < USERS; ++i) {
            wallets[i] = new HostileWallet();
            bytes memory approval = abi.encodeCall(token_.approve, (address(forwarder_), type(uint256).max));
            wallets[i].execute(address(token_), approval);
        }
    }

    /// @notice Makes calls until there are enough, or the gas is nearly used up; then all sums are compared.
    /// @return made How many.
    function run(uint256 seed, uint256 count) external returns (uint256 made) {
        random = seed;
        for (; made < count && gasleft() > STEP_GAS; ++made) {
            ++calls;
            _step();
        }
        _checkSums();
    }

    function _step() private {
        uint256 kind = _pick(20);
        if (kind < 3) _create(kind == 0);
        else if (kind < 6) _one(kind);
        else if (kind < 9) _many(kind);
        else if (kind < 13) _own(kind);
        else if (kind < 16) _multiUser();
        else if (kind == 16) _fund();
        else if (kind == 17) _invalidate();
        else if (kind == 18) _behave();
        else _payOut();
    }

    function _pick(uint256 below) private returns (uint256) {
        random = uint256(keccak256(abi.encode(random)));
        return random % below;
    }

    function _check(bool holds, string memory what) private view {
        if (!holds) revert Broken(what, calls);
    }

    function _userOf(address wallet) private view returns (uint256 user) {
        while (user < USERS && address(wallets[user]) != wallet) ++user;
    }

    /// @dev The last two answer with the right word; the others lie, burn, re-enter, answer too little or revert.
    function _says(uint256 user) private view returns (bool) {
        HostileWallet.Mode mode = wallets[user].mode();
        return mode == HostileWallet.Mode.Approve || mode == HostileWallet.Mode.ReturnBomb;
    }

    /// @return auth A request of a user: usually in time, and now and then too early or too late.
    /// @return passes Whether the Forwarder has to let it pass.
    function _sign(uint256 user) private returns (Authorization memory auth, bool passes) {
        uint256 moment = _pick(20);
        uint256 age = forwarder.maxAge();
        bool official = forwarder.isOfficialRelayer(address(this));
        auth = Authorization(address(wallets[user]), _pick(40), block.timestamp, 27, bytes32(_pick(9)), bytes32(_pick(9)));
        if (moment == 0) auth.timestamp += 1 + _pick(5);
        if (moment == 1) auth.timestamp -= age + 1 + _pick(5);
        if (moment > 10) auth.timestamp -= age;
        bool open = auth.timestamp <= block.timestamp && block.timestamp - auth.timestamp <= age
            && (official || block.timestamp - auth.timestamp >= forwarder.priorityWindow());
        passes = open && _says(user);
    }

    function _cloudId(uint256 prism) private view returns (bytes32) {
        return keccak256(abi.encode(address(wallets[prism / 2]), bytes32(prism % 2)));
    }

    function _payload() private returns (bytes memory payload) {
        uint256[8] memory lengths = [uint256(0), 1, 20, 31, 32, 63, 64, 100];
        payload = new bytes(lengths[_pick(8)]);
        for (uint256 i = 0; i < payload.length; ++i) payload[i] = bytes1(uint8(_pick(256)));
    }

    function _lists(bool withPayloads) private returns (bytes32[] memory ids, bytes[] memory payloads) {
        uint256 count = _pick(8) == 0 ? 0 : 1 + _pick(3);
        ids = new bytes32[](count);
        payloads = new bytes[](withPayloads && _pick(10) == 0 ? count + 1 : count);
        for (uint256 i = 0; i < count; ++i) ids[i] = bytes32(_pick(IDS));
        for (uint256 i = 0; i < payloads.length; ++i) payloads[i] = withPayloads ? _payload() : bytes("");
    }

    /// @dev Whether a list can be written, replaced or removed one after the other.
    /// @param mode 0 write, 1 modify, 2 remove
    function _fits(uint256 prism, bytes32[] memory ids, bytes[] memory payloads, uint256 mode)
        private
        view
        returns (bool)
    {
        if (ids.length == 0 || ids.length != payloads.length) return false;
        for (uint256 i = 0; i < ids.length; ++i) {
            bool there = entries[prism][uint256(ids[i])] != 0;
            for (uint256 j = 0; j < i; ++j) if (ids[j] == ids[i] && mode != 1) return false;
            if (there != (mode != 0)) return false;
        }
        return true;
    }

    function _put(uint256 prism, bytes32[] memory ids, bytes[] memory payloads, uint256 mode) private {
        for (uint256 i = 0; i < ids.length; ++i) {
            entries[prism][uint256(ids[i])] = mode == 2 ? bytes32(0) : keccak256(payloads[i]);
        }
    }

    /// @dev Writes down what a single request must have done.
    function _settle(uint256 user, uint256 fee, uint256 protocol) private {
        ++nonces[user];
        uint256 share = forwarder.isOfficialRelayer(address(this)) ? fee : fee * forwarder.relayerShareBps() / 10_000;
        earned += share;
        treasuryEarned += fee - share + protocol;
    }

    /// @dev Makes a call that must succeed or fail, and compares whatever it may have touched.
    function _call(bytes memory data, bool passes, uint256 user, uint256 prism) private returns (bool) {
        (bool success,) = address(forwarder).call(data);
        _check(success == passes, passes ? "a right request was refused" : "a wrong request was carried out");
        if (success) ++done;
        else ++refused;
        _checkUser(user);
        _checkPrism(prism);
        return success;
    }

    function _create(bool withData) private {
        uint256 prism = _pick(PRISMS);
        uint256 user = prism / 2;
        (Authorization memory auth, bool passes) = _sign(user);
        Creation memory creation;
        creation.salt = bytes32(prism % 2);
        creation.relayerFundAmount = _pick(3) == 0 ? 0 : _pick(900);
        uint256 held = token.balanceOf(address(wallets[user]));
        creation.fundAmount = _pick(3) == 0 ? held + 1 - _pick(2) : _pick(held + 1) / 2;
        // A permit that nobody has signed: the approval of before counts.
        if (_pick(2) == 0) creation.permit = Permit(block.timestamp + 9, 27, bytes32(uint256(1)), bytes32(uint256(2)));
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(true);
        uint256 protocol = withData ? cloud.protocolFee() : 0;
        uint256 funds = creation.fundAmount + creation.relayerFundAmount;
        Model storage model = prisms[prism];
        passes = passes && !model.known && creation.fundAmount <= held && funds >= auth.relayerFee + protocol
            && (!withData || _fits(prism, ids, payloads, 0));
        if (passes) {
            prisms[prism] = Model(
                address(wallets[user]),
                address(0),
                funds - auth.relayerFee - protocol,
                creation.relayerFundAmount,
                false,
                true
            );
            if (withData) _put(prism, ids, payloads, 0);
            _settle(user, auth.relayerFee, protocol);
        }
        _call(
            withData
                ? abi.encodeCall(forwarder.createPrismWithDataFor, (creation, ids, payloads, auth))
                : abi.encodeCall(forwarder.createPrismFor, (creation, auth)),
            passes,
            user,
            prism
        );
    }

    /// @dev Mostly the owner's, so that much succeeds.
    function _actor(uint256 prism) private returns (uint256 user) {
        user = _userOf(prisms[prism].owner);
        if (user == USERS || _pick(6) == 0) user = _pick(USERS);
    }

    function _pays(uint256 prism, uint256 user, uint256 due) private view returns (bool) {
        return prisms[prism].owner == address(wallets[user]) && prisms[prism].balance >= due;
    }

    /// @dev WRITE_DATA_FOR, MODIFY_DATA_FOR, DELETE_DATA_FOR.
    function _one(uint256 kind) private {
        uint256 mode = kind - 3;
        uint256 prism = _pick(PRISMS);
        uint256 user = _actor(prism);
        (Authorization memory auth, bool passes) = _sign(user);
        (bytes32[] memory ids, bytes[] memory payloads) = (new bytes32[](1), new bytes[](1));
        (ids[0], payloads[0]) = (bytes32(_pick(IDS)), _payload());
        uint256 protocol = mode == 2 ? 0 : cloud.protocolFee();
        passes = passes && _pays(prism, user, auth.relayerFee + protocol) && _fits(prism, ids, payloads, mode);
        if (passes) _charge(prism, user, auth.relayerFee, protocol);
        if (passes) _put(prism, ids, payloads, mode);
        bytes32 cloudId = _cloudId(prism);
        bytes memory data = mode == 0
            ? abi.encodeCall(forwarder.writeDataFor, (cloudId, ids[0], payloads[0], auth))
            : mode == 1
                ? abi.encodeCall(forwarder.modifyDataFor, (cloudId, ids[0], payloads[0], auth))
                : abi.encodeCall(forwarder.deleteDataFor, (cloudId, ids[0], auth));
        _call(data, passes, user, prism);
    }

    function _charge(uint256 prism, uint256 user, uint256 fee, uint256 protocol) private {
        prisms[prism].balance -= fee + protocol;
        _settle(user, fee, protocol);
    }

    /// @dev BATCH_WRITE_DATA_FOR, BATCH_MODIFY_DATA_FOR, BATCH_DELETE_DATA_FOR.
    function _many(uint256 kind) private {
        uint256 mode = kind - 6;
        uint256 prism = _pick(PRISMS);
        uint256 user = _actor(prism);
        (Authorization memory auth, bool passes) = _sign(user);
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(mode != 2);
        uint256 protocol = mode == 2 ? 0 : cloud.protocolFee();
        passes = passes && _pays(prism, user, auth.relayerFee + protocol) && _fits(prism, ids, payloads, mode);
        if (passes) _charge(prism, user, auth.relayerFee, protocol);
        if (passes) _put(prism, ids, payloads, mode);
        bytes32 cloudId = _cloudId(prism);
        bytes memory data = mode == 0
            ? abi.encodeCall(forwarder.batchWriteDataFor, (cloudId, ids, payloads, auth))
            : mode == 1
                ? abi.encodeCall(forwarder.batchModifyDataFor, (cloudId, ids, payloads, auth))
                : abi.encodeCall(forwarder.batchDeleteDataFor, (cloudId, ids, auth));
        _call(data, passes, user, prism);
    }

    /// @dev TRANSFER_PRISM_FOR (twice as often), ACCEPT_TRANSFER_FOR, DELETE_PRISM_FOR.
    function _own(uint256 kind) private {
        uint256 prism = _pick(PRISMS);
        Model storage model = prisms[prism];
        uint256 user = _actor(prism);
        // A prism that is deleted is of no more use: seldom.
        if (kind == 12 && _pick(3) != 0) kind = 9;
        if (kind == 11 && model.pending != address(0) && _pick(4) != 0) user = _userOf(model.pending);
        (Authorization memory auth, bool passes) = _sign(user);
        address wallet = address(wallets[user]);
        uint256 fee = auth.relayerFee;
        address entitled = kind == 11 ? model.pending : model.owner;
        passes = passes && entitled == wallet && !model.deleted && model.balance >= fee;
        address heir = _pick(5) == 0 ? address(0) : address(wallets[_pick(USERS)]);
        bytes32 cloudId = _cloudId(prism);
        bytes memory data;
        if (kind < 11) data = abi.encodeCall(forwarder.transferPrismFor, (cloudId, heir, auth));
        else if (kind == 11) data = abi.encodeCall(forwarder.acceptTransferFor, (cloudId, auth));
        else data = abi.encodeCall(forwarder.deletePrismFor, (cloudId, auth));
        if (passes) {
            _charge(prism, user, fee, 0);
            if (kind < 11) model.pending = heir;
            else if (kind == 11) (model.owner, model.pending) = (wallet, address(0));
            else return _end(data, user, prism);
        }
        _call(data, passes, user, prism);
    }

    /// @dev What is left goes back to the sponsor, up to what it gave, and then to the owner.
    function _end(bytes memory data, uint256 user, uint256 prism) private {
        Model storage model = prisms[prism];
        uint256 back = model.sponsored < model.balance ? model.sponsored : model.balance;
        uint256 rest = model.balance - back;
        uint256 held = token.balanceOf(address(wallets[user]));
        earned += back;
        prisms[prism] = Model(address(0), address(0), 0, 0, true, true);
        _call(data, true, user, prism);
        _check(token.balanceOf(address(wallets[user])) == held + rest, "the owner did not get the rest");
    }

    /// @dev BATCH_MULTI_USER_WRITE_DATA: each entry by itself.
    function _multiUser() private {
        uint256 count = 1 + _pick(4);
        WriteEntry[] memory batch = new WriteEntry[](count);
        bool[] memory right = new bool[](count);
        uint256[] memory touched = new uint256[](count);
        uint256 fees = 0;
        uint256 protocol = cloud.protocolFee();
        uint256 written = 0;
        for (uint256 i = 0; i < count; ++i) {
            uint256 prism = _pick(PRISMS);
            uint256 user = _actor(prism);
            (Authorization memory auth, bool passes) = _sign(user);
            (bytes32[] memory ids, bytes[] memory payloads) = (new bytes32[](1), new bytes[](1));
            (ids[0], payloads[0]) = (bytes32(_pick(IDS)), _payload());
            batch[i] = WriteEntry(_cloudId(prism), ids[0], payloads[0], auth);
            touched[i] = prism;
            right[i] = passes && _pays(prism, user, auth.relayerFee + protocol) && _fits(prism, ids, payloads, 0);
            if (!right[i]) continue;
            prisms[prism].balance -= auth.relayerFee + protocol;
            ++nonces[user];
            _put(prism, ids, payloads, 0);
            fees += auth.relayerFee;
            ++written;
        }
        uint256 share = forwarder.isOfficialRelayer(address(this)) ? fees : fees * forwarder.relayerShareBps() / 10_000;
        earned += share;
        treasuryEarned += fees - share + written * protocol;
        RefusedEntry[] memory answer = forwarder.batchMultiUserWriteData(batch);
        _check(answer.length == count - written, "another number of entries was refused");
        uint256 place = 0;
        for (uint256 i = 0; i < count; ++i) {
            if (!right[i]) _check(answer[place++].index == i, "another entry was refused");
            _checkPrism(touched[i]);
        }
        done += written;
        refused += count - written;
        for (uint256 user = 0; user < USERS; ++user) _checkUser(user);
    }

    function _fund() private {
        uint256 prism = _pick(PRISMS);
        uint256 amount = _pick(300);
        bool lives = prisms[prism].owner != address(0);
        (bool success,) = address(cloud).call(abi.encodeCall(cloud.fundPrism, (_cloudId(prism), amount)));
        _check(success == lives, "funding");
        if (lives) prisms[prism].balance += amount;
        _checkPrism(prism);
    }

    function _invalidate() private {
        uint256 user = _pick(USERS);
        wallets[user].execute(address(forwarder), abi.encodeCall(forwarder.invalidateNonce, ()));
        ++nonces[user];
        _checkUser(user);
    }

    function _behave() private {
        uint256 user = _pick(USERS);
        // Mostly honest.
        uint256 mode = _pick(4) == 0 ? _pick(6) : 0;
        bytes memory again = abi.encodeCall(forwarder.invalidateNonce, ());
        wallets[user].behave(HostileWallet.Mode(mode), address(forwarder), again);
        // Credits to found prisms with.
        if (token.balanceOf(address(wallets[user])) < 500) token.transfer(address(wallets[user]), 1000);
    }

    function _payOut() private {
        (uint256 held, uint256 treasury) = (token.balanceOf(address(this)), token.balanceOf(cloud.treasury()));
        cloud.payOutEarnings(address(this));
        _check(token.balanceOf(address(this)) == held + earned, "the relayer got another amount");
        _check(token.balanceOf(cloud.treasury()) == treasury + treasuryEarned, "the treasury got another amount");
        (earned, treasuryEarned) = (0, 0);
    }

    function _checkUser(uint256 user) private view {
        _check(forwarder.nonces(address(wallets[user])) == nonces[user], "a nonce");
        (uint256 relayer, uint256 treasury) = cloud.earningsOf(address(this));
        _check(relayer == earned && treasury == treasuryEarned, "earnings");
    }

    function _checkPrism(uint256 prism) private view {
        Model storage model = prisms[prism];
        bytes32 cloudId = _cloudId(prism);
        (address owner, address pending, uint256 balance, bool deleted) = cloud.prisms(cloudId);
        _check(owner == model.owner && pending == model.pending && deleted == model.deleted, "a prism's owner");
        _check(balance == model.balance, "a prism's balance");
        for (uint256 id = 0; id < IDS; ++id) {
            bytes32 hash = owner == address(0) ? bytes32(0) : entries[prism][id];
            _check(cloud.hasData(cloudId, bytes32(id)) == (hash != 0), "an entry is there or not");
            if (hash != 0) _check(keccak256(cloud.dataOf(cloudId, bytes32(id))) == hash, "an entry's payload");
        }
    }

    /// @dev Credits are conserved to the unit.
    function _checkSums() private view {
        uint256 sum = earned + treasuryEarned;
        for (uint256 prism = 0; prism < PRISMS; ++prism) {
            _checkPrism(prism);
            sum += prisms[prism].balance;
        }
        _check(token.balanceOf(address(cloud)) == sum, "the cloud's credits");
        _check(token.balanceOf(address(forwarder)) == 0, "the Forwarder holds credits");
        _check(token.totalSupply() == supply, "the supply");
    }
}
