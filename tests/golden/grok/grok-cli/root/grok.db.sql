-- wal

create table workspaces (id text primary key, scope_key text not null unique, canonical_path text not null, git_root text,
  display_name text not null, last_seen_at text not null) strict;
create table sessions (id text primary key, workspace_id text not null, title text, recap_text text, recap_model text,
  recap_updated_at text, model text not null, mode text not null, cwd_at_start text not null, cwd_last text not null,
  status text not null, created_at text not null, updated_at text not null) strict;
create table messages (session_id text not null, seq integer not null, role text not null, message_json text not null,
  created_at text not null, primary key (session_id, seq)) strict;
create table tool_calls (id integer primary key autoincrement, session_id text not null, message_seq integer not null,
  tool_call_id text not null, tool_name text not null, args_json text not null, status text not null,
  started_at text not null, completed_at text) strict;
create table tool_results (id integer primary key autoincrement, tool_call_row_id integer not null,
  output_kind text not null, output_json text not null, success integer not null, created_at text not null) strict;
create table usage_events (id integer primary key autoincrement, session_id text not null, message_seq integer,
  source text not null, model text not null, input_tokens integer not null default 0,
  output_tokens integer not null default 0, total_tokens integer not null default 0,
  cost_micros integer not null default 0, created_at text not null) strict;
create table compactions (id integer primary key autoincrement, session_id text not null, first_kept_seq integer not null,
  summary text not null, tokens_before integer not null default 0, created_at text not null) strict;
insert into workspaces (id, scope_key, canonical_path, git_root, display_name, last_seen_at) values ('w1', '/home/ada/shop', '/home/ada/shop', '/home/ada/shop', 'shop', '2026-11-01T09:00:00.000Z');
insert into sessions (id, workspace_id, title, model, mode, cwd_at_start, cwd_last, status, created_at, updated_at, recap_text) values ('a1b2c3d4e5f6', 'w1', 'Count crates', 'grok-4', 'agent', '/home/ada/shop', '/home/ada/shop', 'active', '2026-11-01T09:00:00.000Z', '2026-11-01T09:00:40.000Z', 'Counting');
insert into sessions (id, workspace_id, title, model, mode, cwd_at_start, cwd_last, status, created_at, updated_at, recap_text) values ('ffffffffffff', 'w1', null, 'grok-4', 'plan', '/home/ada/shop', '/home/ada/shop', 'active', '2026-11-01T09:00:00.000Z', '2026-11-01T09:00:05.000Z', 'A short talk');
insert into usage_events (session_id, source, model, input_tokens, output_tokens, total_tokens, cost_micros, created_at) values ('a1b2c3d4e5f6', 'title', 'grok-3-mini', 30, 3, 33, 0, '2026-11-01T09:00:00.500Z');
insert into usage_events (session_id, source, model, input_tokens, output_tokens, total_tokens, cost_micros, created_at) values ('a1b2c3d4e5f6', 'message', 'grok-4', 1000, 40, 1040, 3600, '2026-11-01T09:00:07.000Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 1, 'user', '{"role": "user", "content": "Count the crates"}', '2026-11-01T09:00:07.000Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 2, 'assistant', '{"role": "assistant", "content": [{"type": "reasoning", "text": "They are outside."}, {"type": "text", "text": "Counting."}, {"type": "tool-call", "toolCallId": "x1", "toolName": "bash", "input": {"command": "ls crates"}}, {"type": "tool-call", "toolCallId": "x2", "toolName": "read_file", "input": {"file_path": "crates.txt"}}]}', '2026-11-01T09:00:07.001Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 3, 'tool', '{"role": "tool", "content": [{"type": "tool-result", "toolCallId": "x1", "toolName": "bash", "output": {"type": "json", "value": {"success": true, "output": "a\nb\n"}}}, {"type": "tool-result", "toolCallId": "x2", "toolName": "read_file", "output": {"type": "json", "value": {"success": false, "error": "no such file"}}}]}', '2026-11-01T09:00:07.001Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 4, 'assistant', '{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "x3", "toolName": "write_file", "input": {"file_path": "crates.txt", "content": "2"}}]}', '2026-11-01T09:00:07.001Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 5, 'tool', '{"role": "tool", "content": [{"type": "tool-result", "toolCallId": "x3", "toolName": "write_file", "output": {"type": "error-text", "value": "read-only"}}]}', '2026-11-01T09:00:07.002Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 6, 'assistant', '{"role": "assistant", "content": "Two."}', '2026-11-01T09:00:07.002Z');
insert into usage_events (session_id, source, model, input_tokens, output_tokens, total_tokens, cost_micros, created_at) values ('a1b2c3d4e5f6', 'recap', 'grok-3-mini', 400, 20, 420, 0, '2026-11-01T09:00:09.000Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 7, 'system', '{"role": "system", "content": "A delegation finished."}', '2026-11-01T09:00:09.000Z');
insert into compactions (session_id, first_kept_seq, summary, tokens_before, created_at) values ('a1b2c3d4e5f6', 6, 'Two crates.', 900, '2026-11-01T09:00:20.000Z');
insert into usage_events (session_id, source, model, input_tokens, output_tokens, total_tokens, cost_micros, created_at) values ('a1b2c3d4e5f6', 'message', 'grok-4', 1200, 20, 1220, 3900, '2026-11-01T09:00:32.000Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 8, 'user', '{"role": "user", "content": [{"type": "text", "text": "And this one?"}, {"type": "image", "image": "iVBOR"}]}', '2026-11-01T09:00:32.000Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('a1b2c3d4e5f6', 9, 'assistant', '{"role": "assistant", "content": "Three."}', '2026-11-01T09:00:32.000Z');
insert into usage_events (session_id, source, model, input_tokens, output_tokens, total_tokens, cost_micros, created_at) values ('ffffffffffff', 'message', 'grok-4', 10, 2, 12, 0, '2026-11-01T09:00:04.900Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('ffffffffffff', 1, 'user', '{"role": "user", "content": "Hello"}', '2026-11-01T09:00:05.000Z');
insert into messages (session_id, seq, role, message_json, created_at) values ('ffffffffffff', 2, 'assistant', '{"role": "assistant", "content": "Hello."}', '2026-11-01T09:00:05.000Z');
