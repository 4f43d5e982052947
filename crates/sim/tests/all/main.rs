//! The simulators from outside: reference data, closed forms, engines that agree.

mod common;
mod message;
mod message_network;
mod message_path;
mod packet;
mod packet_buffers;
mod packet_replay;
mod packet_sharing;
mod ranks;
mod select;
