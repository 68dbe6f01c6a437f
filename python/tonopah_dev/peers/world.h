// Reads a world file (python/tonopah/peers/world_file.py) for the programs of ns-3.
#pragma once
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>

struct World
{
    std::map<std::string, std::string> settings;
    std::vector<std::vector<double>> places;
    std::vector<std::vector<double>> orders;
    std::vector<std::vector<double>> flows;

    explicit World(const char* path)
    {
        std::ifstream file(path);
        if (!file)
        {
            std::cerr << path << " cannot be read\n";
            std::exit(2);
        }
        std::string line;
        while (std::getline(file, line))
        {
            std::istringstream words(line);
            std::string kind;
            words >> kind;
            if (kind == "setting")
            {
                std::string name;
                words >> name;
                words >> settings[name];
                continue;
            }
            std::vector<double> values;
            for (double value; words >> value;)
            {
                values.push_back(value);
            }
            (kind == "place" ? places : kind == "order" ? orders : flows).push_back(values);
        }
    }

    double Number(const std::string& name) const
    {
        auto found = settings.find(name);
        if (found == settings.end())
        {
            std::cerr << "the world file has no setting " << name << "\n";
            std::exit(2);
        }
        return std::stod(found->second);
    }

    double Number(const std::string& name, double otherwise) const
    {
        return settings.count(name) > 0 ? Number(name) : otherwise;
    }
};

/// Prints the CPU time of this process so far: what is done before the simulation runs is set-up.
inline void PrintSetup()
{
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    auto seconds = [](const timeval& time) { return time.tv_sec + 1e-6 * time.tv_usec; };
    std::cout << "result setup " << seconds(used.ru_utime) + seconds(used.ru_stime) << std::endl;
}
