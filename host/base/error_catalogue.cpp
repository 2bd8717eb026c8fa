#include "base/error_catalogue.h"

#include <array>

namespace msprobe {
namespace {

constexpr std::array entries{
    ErrorEntry{
        "E1001", "Not enough storage, or the output folder is missing",
        "A result could not be written: the disk is full, a quota is reached, or the folder does not exist. The "
        "message says how much is "
        "free and how much is needed. Clean the dump folder, extend the disk, or name another folder with -o. An "
        "earlier report at the "
        "same place is untouched: results are written beside it and renamed when they are complete.",
        "存储空间不足，或输出目录不存在",
        "结果无法写入：磁盘已满、达到配额，或目录不存在。错误信息给出剩余和所需空间。请清理数据目录、扩容磁盘，或用 -o "
        "指定其他目录。原有报告保持不变：结果先写入临时文件，完成后再改名。"},
    ErrorEntry{
        "E1002", "The place is not writable",
        "You may not write there: permissions, a read-only file system, or a folder where a file should be. Name "
        "another place with -o, or "
        "set MSPROBE_HOME for the plugin registry.",
        "目标位置不可写",
        "没有写权限、文件系统只读，或目标是目录。请用 -o 指定其他位置；插件注册表的位置可用 MSPROBE_HOME 设置。"},
    ErrorEntry{"E1003", "The path does not exist",
               "Nothing is there. Check for a typing mistake, an unmounted disk, or a relative path that starts from "
               "another folder.",
               "路径不存在", "该路径下没有任何内容。请检查拼写、磁盘是否挂载，以及相对路径的起点。"},
    ErrorEntry{"E1004", "No permission to read",
               "The file or folder is there but may not be read. Dumps are often written as root inside a container: "
               "change the owner or the "
               "permissions.",
               "没有读取权限", "文件或目录存在但不可读。容器内以 root 采集的数据常有此问题：请修改属主或权限。"},
    ErrorEntry{"E1005", "Reading failed",
               "The system could not read or map the file: an input/output error, too many open files, or a network "
               "file system that went away. "
               "The message has the system's words. Check the disk, or raise the limit of open files (ulimit -n).",
               "读取失败",
               "系统无法读取或映射该文件：输入输出错误、打开文件过多，或网络文件系统断开。请检查磁盘，或提高打开文件数"
               "限制（ulimit -n）。"},
    ErrorEntry{
        "E2003", "This operator does not support dump",
        "The message names the operator and its type. Leave it out of the dump list, or dump the layers around it.",
        "该算子不支持采集", "错误信息给出算子名和类型。请从采集列表中去掉它，或采集它前后的层。"},
    ErrorEntry{"E3005", "Version mismatch",
               "A file or plugin was made for another version. The message says which version wrote or needs it, and "
               "which one is here. Upgrade "
               "msprobe, or take a build of the plugin for this version.",
               "版本不匹配",
               "文件或插件来自其他版本。错误信息给出两侧的版本。请升级 msprobe，或使用与当前版本匹配的插件。"},
    ErrorEntry{"E4001", "Not a format that msprobe knows",
               "The content of the file was looked at, not only its suffix. Raw tensors need the suffix .bin, with "
               "--dtype and --shape or a side "
               "file. docs/formats.md lists what can be read.",
               "无法识别的格式",
               "msprobe 按内容（而不仅是后缀）判断格式。原始数据请用 .bin 后缀，并给出 --dtype 和 --shape "
               "或旁文件。可读格式见 docs/formats.md。"},
    ErrorEntry{
        "E4002", "The file is cut short",
        "The header promises more bytes than the file has; the message says both numbers. The file may still be being "
        "written, the disk may "
        "have been full, or a copy was interrupted. Write or copy it again.",
        "文件被截断",
        "文件头声明的字节数多于实际字节数，错误信息给出两者。可能仍在写入、磁盘曾写满，或拷贝中断。请重新采集或拷贝。"},
    ErrorEntry{"E4003", "Nothing is inside",
               "The folder holds no dump and no tensor file. Name the folder that holds step0, step1, ..., or a folder "
               "of tensor files.",
               "目录中没有数据",
               "目录里既没有采集数据也没有张量文件。请指定包含 step0、step1…… 的目录，或张量文件所在目录。"},
    ErrorEntry{"E4004", "Two dumps in one folder",
               "A step folder holds several proc* folders, because a program was run twice into the same path. They "
               "are listed: name one of them "
               "with -r or -t, or remove the other.",
               "同一目录中有两份数据",
               "step 目录下有多个 proc*，通常因为向同一路径采集了两次。错误信息列出了它们：请用 -r 或 -t "
               "指定其一，或删除多余的。"},
    ErrorEntry{"E4005", "A tensor file is missing",
               "dump.json names a file that is not there, or says that saving it failed (data_name -1). The row gets "
               "the verdict error, the others "
               "are compared. Dump again, or copy dump_tensor_data completely.",
               "缺少张量文件",
               "dump.json 提到的文件不存在，或采集时保存失败（data_name 为 -1）。该行判为 "
               "error，其余照常比对。请重新采集，或完整拷贝 dump_tensor_data。"},
    ErrorEntry{
        "E4006", "Refused: the file would have to be executed or holds objects",
        "A pickle asks for something that is not a plain tensor, or an array holds Python objects. msprobe never "
        "executes what a dump "
        "contains. Save plain tensors (torch.save of tensors, lists and dicts of them; numpy.save without objects).",
        "拒绝读取：文件需要执行代码或包含对象",
        "pickle 引用了普通张量以外的内容，或数组包含 Python 对象。msprobe 从不执行数据中的代码。请只保存普通张量。"},
    ErrorEntry{"E4007", "The header is malformed",
               "The file looks like a known format, but its header makes no sense. It was damaged, or written by a "
               "program that does not follow the "
               "format.",
               "文件头损坏", "文件像是已知格式，但文件头不合理：文件已损坏，或写入程序不遵守格式。"},
    ErrorEntry{
        "E4008", "dump.json is malformed",
        "The file is not the JSON that a dump tool writes. When it is only cut off at the end, what was complete is "
        "used and the report says "
        "incomplete; this error means that nothing was usable.",
        "dump.json 损坏",
        "文件不是采集工具写出的 JSON。若仅末尾被截断，完整部分仍会使用并标记为不完整；出现本错误说明没有可用内容。"},
    ErrorEntry{"E4009", "The dtype is not supported",
               "The tensor's dtype has no meaning here (text, structures, quantised packs). --dtype-map says what an "
               "opaque dtype stands for, for "
               "example --dtype-map V2=bf16.",
               "不支持的数据类型",
               "该张量的数据类型无法比较（文本、结构体、量化打包等）。不透明类型可用 --dtype-map 说明，例如 "
               "--dtype-map V2=bf16。"},
    ErrorEntry{"E4010", "The size does not fit dtype and shape",
               "The number of bytes is no multiple of the element size, or not what the shape needs. Raw files are "
               "float32 unless --dtype or a side "
               "file says otherwise.",
               "大小与类型或形状不符",
               "字节数不是元素大小的整数倍，或与形状不符。原始文件默认按 float32 读取，可用 --dtype 或旁文件说明。"},
    ErrorEntry{"E4012", "The file changed while it was read",
               "It became shorter during the run: somebody is still writing or has replaced it. The row gets the "
               "verdict error. Compare again when "
               "the dump is complete.",
               "读取时文件发生变化",
               "运行过程中文件变短：可能仍在写入或被替换。该行判为 error。请在采集完成后重新比对。"},
    ErrorEntry{"E4013", "A file name leads out of the dump",
               "data_name in dump.json is an absolute path or contains '..'. msprobe reads only below the folder that "
               "you named.",
               "文件名指向数据目录之外",
               "dump.json 中的 data_name 是绝对路径或包含 '..'。msprobe 只读取指定目录之内的文件。"},
    ErrorEntry{"E5001", "The plugin cannot be loaded",
               "The system's loader refused the library; its own words are in the message: usually another library "
               "that is missing, or a symbol "
               "that nobody defines.",
               "插件无法加载", "系统加载器拒绝了该库，原因见错误信息：通常是缺少依赖库或未定义的符号。"},
    ErrorEntry{"E5002", "This is no plugin",
               "The file is no shared library, or does not export the symbol msprobe_plugin_v1. Build it against "
               "msprobe/analyzer.h; "
               "docs/writing-an-analyzer.md shows how.",
               "这不是插件",
               "文件不是动态库，或没有导出符号 msprobe_plugin_v1。请基于 msprobe/analyzer.h 构建，见 "
               "docs/writing-an-analyzer.md。"},
    ErrorEntry{"E5003", "The plugin describes itself wrongly",
               "Its constant data (sizes, names, columns, options) broke a rule of the interface; the message says "
               "which. Nothing in it was called.",
               "插件的自我描述有误",
               "插件的常量数据（大小、名称、列、选项）违反接口规则，错误信息指出哪一条。插件中的代码未被调用。"},
    ErrorEntry{"E5004", "The name is registered already",
               "Another library has this name. Take another name, or --force to replace it.", "名称已被注册",
               "该名称已属于另一个库。请换一个名称，或用 --force 替换。"},
    ErrorEntry{"E5005", "No such analyzer",
               "Nothing is registered or built in under this name. `msprobe plugins` lists what there is. Names match "
               "without regard to case; '-' "
               "and '_' are the same.",
               "没有这个分析器",
               "没有以此名称注册或内置的分析器。用 `msprobe plugins` 查看。名称不区分大小写，'-' 与 '_' 等价。"},
    ErrorEntry{"E5006", "The plugin has changed since it was registered",
               "The file's SHA-256 is not the registered one, so it is not loaded. If you trust the new file, register "
               "it again.",
               "插件在注册后发生变化", "文件的 SHA-256 与注册时不同，因此不加载。若信任新文件，请重新注册。"},
    ErrorEntry{"E5007", "Two plugins claim the name",
               "Both are named in the message. Use -m with a path, or unregister one of them.", "两个插件使用同一名称",
               "错误信息列出了两者。请用 -m 指定路径，或注销其中一个。"},
    ErrorEntry{
        "E5008", "The analyzer failed",
        "A callback of the plugin returned an error or threw; the message has its reason. A single row then has the "
        "verdict error, a failure "
        "at the start or end stops the run.",
        "分析器出错",
        "插件的回调返回错误或抛出异常，原因见错误信息。单行出错时该行判为 error；在开始或结束时出错则终止运行。"},
    ErrorEntry{"E5009", "The plugin registry is damaged",
               "plugins.json cannot be parsed. Mend it or remove it, then register your plugins again.",
               "插件注册表损坏", "plugins.json 无法解析。请修复或删除后重新注册插件。"},
    ErrorEntry{"E5010", "The plugin crashed or ended its process",
               "It ran in a process of its own, so only the row in flight is lost (verdict error); the others are "
               "kept. While a plugin is listed "
               "or registered, it means that loading the library alone crashes. Tell its author, with the row's name.",
               "插件崩溃或退出",
               "插件在独立进程中运行，因此只丢失当前行（判为 "
               "error），其余保留。若在列出或注册时出现，说明仅加载该库就会崩溃。请联系作者。"},
    ErrorEntry{
        "E5011", "The plugin did not answer in time",
        "Its worker process was ended and the row in flight has the verdict error. --plugin-timeout gives it more "
        "seconds for a tensor; loading "
        "a library may take 10 seconds.",
        "插件超时",
        "其工作进程已被终止，当前行判为 error。可用 --plugin-timeout 延长每个张量的时限；加载库的时限为 10 秒。"},
    ErrorEntry{"E5012", "No worker process",
               "The system gave no further process or socket. Raise the limits (ulimit -u, -n), use fewer workers "
               "(-j), or trust the plugin with "
               "--isolate never.",
               "无法创建工作进程",
               "系统拒绝创建进程或套接字。请提高限制（ulimit -u、-n）、减少 -j，或在信任插件时用 --isolate never。"},
    ErrorEntry{"E5013", "The plugin was lost too often",
               "Its worker processes crashed or hung five times in this run. The rest of the rows is not analysed; "
               "what was analysed is kept.",
               "插件多次异常", "本次运行中其工作进程已崩溃或超时五次。其余行不再分析，已有结果保留。"},
    ErrorEntry{"E5014", "Anyone may change the plugin",
               "The file is writable by all users, so another user could make it run anything in your name. It is not "
               "loaded. Take the right away (chmod o-w FILE), or copy the plugin to a folder of your own.",
               "任何人都能修改该插件",
               "该文件对所有用户可写，他人可借此以您的身份运行任意代码，因此不加载。请去掉该权限（chmod o-w "
               "文件），或将插件复制到自己的目录。"},
    ErrorEntry{"E5015", "The plugin registry is locked",
               "Another msprobe has been changing the registry for ten seconds. Try again. Where the file system has no "
               "locks, a lock file beside the registry takes their place; when the program that made it was killed, the "
               "file stays: the message names it and who made it. Remove it when no msprobe runs there any more.",
               "插件注册表被锁定",
               "另一个 msprobe 已占用注册表十秒。请重试。若文件系统不支持锁，则以注册表旁的锁文件代替；创建它的程序被"
               "强制结束时该文件会留下，错误信息给出文件名和创建者。确认其已不在运行后删除即可。"},
    ErrorEntry{"E6001", "Unknown command or option",
               "The message names the nearest one that exists. `msprobe --help` lists commands, `msprobe COMMAND "
               "--help` their options.",
               "未知的命令或选项",
               "错误信息给出最接近的名称。`msprobe --help` 列出命令，`msprobe 命令 --help` 列出选项。"},
    ErrorEntry{"E6002", "A value is missing or makes no sense", "The message names the option and what it takes.",
               "缺少值或值无效", "错误信息给出选项以及可用的值。"},
    ErrorEntry{"E6003", "The threshold file is wrong",
               "It is a JSON list of {\"layer\": glob, \"metric\": name, \"limit\": number}; the first match wins. The "
               "message names the rule.",
               "阈值文件有误",
               "应为 JSON 列表，元素形如 {\"layer\": 通配符, \"metric\": 名称, \"limit\": "
               "数值}，首个匹配生效。错误信息指出哪条规则。"},
};

}  // namespace

std::span<const ErrorEntry> error_catalogue() {
  return entries;
}

const ErrorEntry* find_error(std::string_view code) {
  for (const ErrorEntry& entry : entries)
    if (entry.code == code) return &entry;
  return nullptr;
}

}  // namespace msprobe
