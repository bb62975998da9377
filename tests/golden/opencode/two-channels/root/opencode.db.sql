CREATE TABLE account (id text primary key, access_token text not null);
CREATE TABLE message (
  id text primary key, session_id text not null, time_created integer not null, time_updated integer not null,
  data text not null);
INSERT INTO "message" VALUES('msg_c1c38a7e800100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000001000,1770000001000,'{"role": "user", "time": {"created": 1770000001000}, "agent": "build"}');
INSERT INTO "message" VALUES('msg_c1c38abd000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000002000,1770000002000,'{"role": "assistant", "time": {"created": 1770000002000, "completed": 1770000003000}, "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "mode": "build", "path": {"cwd": "/home/ada/shop", "root": "/home/ada/shop"}, "cost": 0.01, "tokens": {"input": 10, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "finish": "stop", "parentID": "msg_c1c38a7e800100000000000001"}');
CREATE TABLE part (
  id text primary key, message_id text not null, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null);
INSERT INTO "part" VALUES('prt_c1c38a7e800100000000000001','msg_c1c38a7e800100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000001000,1770000001000,'{"type": "text", "text": "which build is this?"}');
INSERT INTO "part" VALUES('prt_c1c38abd000100000000000001','msg_c1c38abd000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000002000,1770000002000,'{"type": "text", "text": "The stable one."}');
INSERT INTO "part" VALUES('prt_c1c38abd000200000000000002','msg_c1c38abd000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000002000,1770000002000,'{"type": "step-finish", "reason": "stop", "cost": 0.01, "tokens": {"input": 10, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
CREATE TABLE session (
  id text primary key, project_id text not null, parent_id text, slug text not null, directory text not null,
  title text not null, version text not null, share_url text, summary_additions integer, summary_deletions integer,
  summary_files integer, summary_diffs text, revert text, permission text, time_created integer not null,
  time_updated integer not null, time_compacting integer, time_archived integer);
INSERT INTO "session" VALUES('ses_3e3c75bffffeAdaShop0000000','9f1c2e',NULL,'quiet-meadow','/home/ada/shop','The stable one','1.1.60',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1770000000000,1770000060000,NULL,NULL);
CREATE INDEX part_session_idx on part (session_id);
